/** Jobs of Kinora's HTTP API. Fields that the driver does not read are ignored. */
import { FailureReason, Permanent } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Option, Schema } from "effect"
import { UpstreamId } from "./upstream.ts"

/** A job. A `status` that the documentation does not name is one of a job that has not ended. */
export const Job = Schema.Struct({
  id: UpstreamId,
  status: Schema.String,
  error: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ code: Schema.String, reason: Schema.optionalKey(Schema.Unknown) }))
  ),
  next: Schema.optionalKey(Schema.Struct({
    after_seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
  }))
})

/** Returns the failure of a failed job. Its message is that of this driver. */
export const failureOf = ({ error }: typeof Job.Type): Permanent => {
  const reason = Option.getOrElse(decodeReason(error?.reason), () => null)
  switch (error?.code) {
    case "content_rejected": {
      const { code, message } = permanent("moderated")
      return new Permanent({ code, reason, message })
    }
    case "invalid_input":
      return permanent("invalid")
    case "generation_failed":
      return new Permanent({ code: "generation_failed", reason, message: permanent("failed").message })
    case "upstream_timeout":
    case "time_limit":
    case "queue_timeout":
      return new Permanent({
        code: "upstream_timeout",
        reason: "provider",
        message: "The provider of the model did not complete the job in time. Try again later."
      })
    default:
      return permanent("failed")
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeReason = Schema.decodeUnknownOption(FailureReason)
