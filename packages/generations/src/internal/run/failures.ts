/** Failures as clients see them: a code and a message of this service, never upstream text. */
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import type { WorkerFailure } from "@kinora/scheduler/JobHandler"
import { Cause } from "effect"
import type { Failure } from "../../Generation.ts"
import type { RunError } from "./retries.ts"

/** Errors that end the run of a generation. */
export type RunFailure = RunError | WorkerFailure

/** Returns the failure that clients see. The caller logs the cause. */
export const fromCause = (cause: Cause.Cause<RunFailure>): Failure => {
  const failed = cause.reasons.find(Cause.isFailReason)
  return failed === undefined ? internal : fromError(failed.error)
}

/** Failure of a job that waited longer than the queue limit. */
export const queueTimeout: Failure = {
  code: "queue_timeout",
  reason: "internal",
  message: "No worker became available in time. The job was refunded. Try again later."
}

/** Failure of a job that an operator failed. */
export const failedByOperator: Failure = {
  code: "generation_failed",
  reason: "internal",
  message: "The operator of the service ended the job. The job was refunded. Try again."
}

/** Failure of a job whose model was withdrawn before it started. */
export const modelWithdrawn: Failure = {
  code: "model_withdrawn",
  reason: null,
  message: "The model was withdrawn before the job started. The job was refunded. Choose another model."
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const internal: Failure = {
  code: "generation_failed",
  reason: "internal",
  message: "The job failed because of an internal error. The job was refunded. Try again."
}

const fromError = (error: RunFailure): Failure => {
  switch (error._tag) {
    case "GeneratorError":
      return fromGenerator(error)
    case "OperationReused":
      return upstream("The generator returned the job of another request. The job was refunded. Try again later.")
    case "TimeLimitExceeded":
      return {
        code: "time_limit",
        reason: null,
        message: "The job exceeded the time limit of its model. The job was refunded. Try again with a smaller request."
      }
    case "AttemptsExhausted":
      return {
        code: "worker_lost",
        reason: "internal",
        message: "The workers that ran the job stopped unexpectedly. The job was refunded. Try again."
      }
    default:
      return internal
  }
}

const fromGenerator = ({ reason }: GeneratorError): Failure => {
  switch (reason._tag) {
    case "Permanent":
      return { code: reason.code, reason: reason.reason, message: reason.message }
    case "Transient":
      return upstream("The generator did not respond after several attempts. The job was refunded. Try again later.")
    case "UnknownOutcome":
      return upstream("The generator may not have received the job. The job was refunded. Try again.")
    case "Lost":
      return upstream("The generator lost the job repeatedly. The job was refunded. Try again later.")
  }
}

const upstream = (message: string): Failure => ({ code: "upstream_error", reason: "provider", message })
