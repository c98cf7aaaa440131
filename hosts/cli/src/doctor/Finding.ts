/** The result of a check. */
import { Effect } from "effect"

/** The result of a check, and what to do about it. */
export interface Finding {
  readonly check: string
  readonly status: "ok" | "warning" | "failure" | "skipped"
  readonly detail: string
  /** Present for warnings and failures. */
  readonly advice?: string
}

/** Something holds. */
export const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail })

/** Something can cause trouble later, or in some installations. */
export const warning = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: "warning",
  detail,
  advice
})

/** Something does not work. */
export const failure = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: "failure",
  detail,
  advice
})

/** Something cannot be checked here. `detail` is the reason. */
export const skipped = (check: string, detail: string): Finding => ({ check, status: "skipped", detail })

/** Returns a failure with the message of the error if a check fails. */
export const orFailure = (check: string, advice: string) => <E, R>(self: Effect.Effect<Finding, E, R>) =>
  Effect.catchCause(self, (cause) => {
    const [reason] = cause.reasons
    const error = reason?._tag === "Fail" ? reason.error : reason?._tag === "Die" ? reason.defect : reason
    return Effect.succeed(failure(check, error instanceof Error ? error.message : String(error), advice))
  })
