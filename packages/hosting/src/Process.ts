/** What the commands of hosts have in common: logs, messages and exit codes. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer, Logger, References, type Runtime } from "effect"
import { CliError, Command } from "effect/cli"
import type { Settings } from "./Settings.ts"

/** Version of the product, as `--version` shows it. */
export const version = "0.1.0"

/**
 * Runs a host's command line as this process. Being told to stop (SIGTERM, SIGINT)
 * is a good end and exits with 0 (D51); a start that fails says why in one sentence
 * for each reason and exits with 1.
 */
export const runMain = <const Name extends string, Input, E>(
  command: Command.Command<Name, Input, {}, E, Command.Environment>
): void =>
  Command.run(command, { version }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown })
  )

/** Turns what can be wrong at a start into the sentence that its message is. */
export const explain = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
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

/** Logs on standard error: for people on a terminal, as JSON lines otherwise. */
export const layerLogs = ({ logLevel }: Pick<Settings, "logLevel">): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([
      process.stderr.isTTY ? Logger.consolePretty() : Logger.withConsoleError(Logger.formatJson)
    ]),
    Layer.succeed(References.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, levels[logLevel])
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
