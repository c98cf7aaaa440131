/** The error of a submit to an upstream that returns an operation twice. */
import { Schema } from "effect"

/** The upstream returned the operation of another job. What it did with the request is unknown, so no other upstream gets the job. */
export class OperationReused
  extends Schema.TaggedError<OperationReused>("@kinora/generations/OperationReused")("OperationReused", {
    upstream: Schema.String
  })
{}
