/** The error of a submit that was not sent. */
import { Schema } from "effect"

/** The upstream fails and is not called, or its limits are reached. The request was not submitted. */
export class UpstreamUnavailable
  extends Schema.TaggedError<UpstreamUnavailable>("@kinora/generations/UpstreamUnavailable")("UpstreamUnavailable", {
    upstream: Schema.String,
    reason: Schema.Literals(["failing", "full"])
  })
{}
