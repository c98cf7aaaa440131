/** Finds out what is wrong with a service and with the host that is configured here. */
import { Settings } from "@kinora/hosting"
import { Effect, Result } from "effect"
import { styleText } from "node:util"
import * as Connection from "../Connection.ts"
import * as Output from "../Output.ts"
import * as Finding from "./Finding.ts"
import { checkHost } from "./host.ts"
import { checkService } from "./service.ts"

/** Prints the findings. Fails if a check fails. */
export const run = Effect.gen(function*() {
  const connection = yield* Connection.load
  yield* Output.progress("Checking the settings and the database")
  const settings = yield* Effect.result(Settings.load(process.env))
  const baseUrl = Result.isSuccess(settings) ? settings.success.baseUrl : undefined
  const host = Result.isFailure(settings)
    ? [Finding.failure("settings", settings.failure.message, "Correct the variables and kinora.config.yaml")]
    : [Finding.ok("settings", "valid"), ...(yield* checkHost(settings.success))]
  yield* Output.progress("Checking the service")
  const findings = [...host, ...(yield* checkService(connection, baseUrl))]
  const failures = findings.filter(({ status }) => status === "failure").length
  yield* Output.show({ healthy: failures === 0, findings }, findings.map(render).join("\n"))
  if (failures > 0) return yield* Connection.fail(`${failures} of ${findings.length} checks failed.`)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const marks = {
  ok: styleText("green", "✔"),
  warning: styleText("yellow", "!"),
  failure: styleText("red", "✘"),
  skipped: styleText("dim", "-")
}

const render = ({ advice, check, detail, status }: Finding.Finding): string =>
  `${marks[status]} ${check.padEnd(14)}  ${detail}${advice === undefined ? "" : `\n                  → ${advice}.`}`
