/** What the commands of hosts have in common: logs, messages and exit codes. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Layer, Logger, Option, References, type Runtime, type Schema } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import * as Settings from "./Settings.ts"

/** Version of the product, as `--version` shows it. */
export const version = "0.1.0"

/** What tells one host's command line from another's. */
export interface HostCommand<E> {
  /** As it is called in help and messages. */
  readonly name: string
  readonly description: string
  /** What `--json` prints. */
  readonly json: string
  /** What `--workers` sets. */
  readonly workers: string
  /** The host itself. `say` prints a page for people, or one line of JSON when that was asked for. */
  readonly layer: (settings: Settings.Settings, say: Say) => Layer.Layer<never, E>
}

/** Prints what a host has to say when it is ready. */
export type Say = (ready: { readonly page: string; readonly json: Schema.Json }) => Effect.Effect<void>

/** Runs a host as this process, on the settings of its environment and its command line. */
export const runHost = <E>(host: HostCommand<E>): void => {
  const flags = {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription(`Print one line of JSON when ready: ${host.json}`),
      Flag.withDefault(false)
    ),
    workers: Flag.Int("workers").pipe(Flag.withDescription(`${host.workers} (KINORA_WORKERS)`), Flag.optional)
  }
  const run = Effect.fn("Process.runHost")(function*({ json, workers }: HostFlags) {
    const settings = yield* Settings.load({
      ...process.env,
      ...Option.match(workers, { onNone: () => ({}), onSome: (count) => ({ KINORA_WORKERS: String(count) }) })
    })
    const say: Say = (ready) => Console.log(json ? JSON.stringify(ready.json) : ready.page)
    return yield* Layer.launch(host.layer(settings, say)).pipe(Effect.provide(layerTelemetry(settings)))
  }, explain)
  runMain(
    Command.make(host.name, flags, run).pipe(
      Command.withDescription(`${host.description} Settings: KINORA_* variables and kinora.config.yaml.`)
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface HostFlags {
  readonly json: boolean
  readonly workers: Option.Option<number>
}

/**
 * Runs a host's command line as this process. Being told to stop (SIGTERM, SIGINT)
 * is a good end and exits with 0 (D51); a start that fails says why in one sentence
 * for each reason and exits with 1.
 */
const runMain = <const Name extends string, Input, E>(
  command: Command.Command<Name, Input, {}, E, Command.Environment>
): void =>
  Command.run(command, { version }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown })
  )

/** Turns what can be wrong at a start into the sentence that its message is. */
const explain = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
  Effect.catchCause(effect, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const error = Cause.squash(cause)
    const isExpected = cause.reasons.some(Cause.isFailReason)
    return Effect.fail(
      new CliError.UserError({
        cause: error,
        userMessage: isExpected ? messageOf(error) : `A bug stopped the process:\n${Cause.pretty(cause)}`
      })
    )
  })

/** Logs on standard error: for people on a terminal, as JSON lines otherwise. No traces. */
const layerTelemetry = ({ logLevel }: Pick<Settings.Settings, "logLevel">): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([
      process.stderr.isTTY ? Logger.consolePretty() : Logger.withConsoleError(Logger.formatJson)
    ]),
    Layer.succeed(References.LogToStderr, true),
    // Nothing collects spans yet, and making them costs a request a seventh.
    Layer.succeed(References.TracerEnabled, false),
    Layer.succeed(References.MinimumLogLevel, levels[logLevel])
  )

const levels = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
} as const

const teardown: Runtime.Teardown = (exit, onExit) => {
  const stopped = Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)
  onExit(stopped ? 0 : 1)
}

const messageOf = (error: unknown): string => {
  const code = causeCodeOf(error)
  if (code === "EADDRINUSE") return "The port is in use; choose another with KINORA_PORT, or 0 for any free one"
  if (code === "EACCES") return "The port may not be opened by this user; choose one above 1023 with KINORA_PORT"
  if (code === "EADDRNOTAVAIL") return "The address is not one of this machine; check KINORA_HOST"
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

/** The system's name for what went wrong while listening. */
const causeCodeOf = (error: unknown): unknown => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
}
