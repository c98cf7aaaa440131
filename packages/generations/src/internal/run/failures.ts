/** What a client is told of a generation that failed (D12): the kind of failure, never its details. */
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import type { JobFailure } from "@kinora/scheduler/JobHandler"
import { Cause } from "effect"
import type { Failure } from "../../Generation.ts"
import type { ProductionError } from "./produceOutput.ts"

/** What can end the run of a generation. */
export type Problem = ProductionError | JobFailure

/** The failure that a client sees. The cause itself belongs in the log. */
export const fromCause = (cause: Cause.Cause<Problem>): Failure => {
  const failed = cause.reasons.find(Cause.isFailReason)
  return failed === undefined ? internal : fromProblem(failed.error)
}

/** It waited longer than a job may wait (D7). */
export const queueTimeout: Failure = {
  code: "queue_timeout",
  reason: "internal",
  message: "The job waited too long for a free worker and was refunded. Try again later."
}

/** Its model was taken off while it waited (D7). */
export const modelWithdrawn: Failure = {
  code: "model_withdrawn",
  reason: null,
  message: "The model was withdrawn before the job started; the job was refunded. Choose another model."
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const internal: Failure = {
  code: "generation_failed",
  reason: "internal",
  message: "The job failed for a reason on our side and was refunded. Try again."
}

const fromProblem = (problem: Problem): Failure => {
  switch (problem._tag) {
    case "GeneratorError":
      return fromGenerator(problem)
    case "TimeLimitExceeded":
      return {
        code: "time_limit",
        reason: null,
        message: "The job ran longer than its model allows and was refunded. Try again, or ask for less."
      }
    case "AttemptsExhausted":
      return {
        code: "worker_lost",
        reason: "internal",
        message: "The workers that ran the job were lost, and it was refunded. Try again."
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
      return {
        code: "upstream_error",
        reason: "provider",
        message: "The generator did not answer after several attempts; the job was refunded. Try again later."
      }
    case "UnknownOutcome":
      return {
        code: "upstream_error",
        reason: "provider",
        message: "It is unknown whether the generator took the job, so it was given up and refunded. Try again."
      }
    case "Lost":
      return {
        code: "upstream_error",
        reason: "provider",
        message: "The generator lost the job more often than it was worth; the job was refunded. Try again later."
      }
  }
}
