/** Finds out what is wrong with a service and with the host that is configured here. */
import { Probes, Settings } from "@kinora/hosting"
import { Effect, type Option, Result } from "effect"
import { styleText } from "node:util"
import * as Connection from "../Connection.ts"
import * as Output from "../Output.ts"
import { checkEgress } from "./egress.ts"
import * as Finding from "./Finding.ts"
import { checkHost } from "./host.ts"
import { checkOperation } from "./operation.ts"
import { checkProbes } from "./probes.ts"
import { checkService } from "./service.ts"

/** Options for `run`. */
export interface DoctorOptions {
  /** Whether to skip the check that takes a minute. */
  readonly quick: boolean
  /** A receiver that webhooks have to reach. */
  readonly webhookUrl: Option.Option<string>
}

/** Prints the findings. Fails if a check fails. */
export const run = Effect.fnUntraced(function*({ quick, webhookUrl }: DoctorOptions) {
  const connection = yield* Connection.load
  yield* Output.progress("Checking the settings and the database")
  const settings = yield* Effect.result(Settings.load(process.env))
  if (Result.isFailure(settings)) {
    const advice = "Correct the variables and kinora.config.yaml"
    return yield* report([
      Finding.failure("settings", settings.failure.message, advice),
      ...(yield* checkService(connection, undefined)),
      ...(yield* checkOperation(connection))
    ])
  }
  const { baseUrl } = settings.success
  const host = yield* checkHost(settings.success)
  yield* Output.progress("Checking the service")
  const service = yield* checkService(connection, baseUrl)
  const probeUrl = yield* Probes.findUrl(settings.success)
  return yield* report([
    Finding.ok("settings", "valid"),
    ...host,
    yield* checkEgress(settings.success, webhookUrl),
    ...service,
    ...(yield* checkProbes({ url: baseUrl ?? connection.url, probeUrl, quick })),
    ...(yield* checkOperation(connection))
  ])
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const report = Effect.fnUntraced(function*(findings: ReadonlyArray<Finding.Finding>) {
  const failures = findings.filter(({ status }) => status === "failure").length
  yield* Output.show({ healthy: failures === 0, findings }, findings.map(render).join("\n"))
  if (failures > 0) return yield* Connection.fail(`${failures} of ${findings.length} checks failed.`)
})

const marks = {
  ok: styleText("green", "✔"),
  warning: styleText("yellow", "!"),
  failure: styleText("red", "✘"),
  skipped: styleText("dim", "-")
}

const render = ({ advice, check, detail, status }: Finding.Finding): string =>
  `${marks[status]} ${check.padEnd(14)}  ${detail}${advice === undefined ? "" : `\n                  → ${advice}.`}`
