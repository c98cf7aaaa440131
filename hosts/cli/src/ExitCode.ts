/** Exit codes: 0 for success, 1 if the service rejects the command or does not respond, 2 for a wrong command line. */
import { Cause, Exit, Option, type Runtime } from "effect"
import { CliError } from "effect/cli"

/**
 * Ends the process with the code of its exit. An interruption, as by Ctrl-C, ends it with
 * `process.exitCode` if the command has set it, and with 130 if not.
 */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  const stopped = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
  onExit(stopped && process.exitCode !== undefined ? Number(process.exitCode) : of(exit))
}

/** Returns the code of an exit. */
export const of = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (!CliError.isCliError(error)) return 1
  // Help that was asked for by `--help` succeeds before it gets here.
  if (error._tag === "ShowHelp") return error.errors.length > 0 ? 2 : 0
  return error._tag === "UserError" ? 1 : 2
}
