/** Runs a host as a command: flags, logs, error messages and exit codes. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Duration, Effect, Exit, Layer, Logger, Option, References, type Runtime } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { awaitDatabase } from "./internal/database/awaitDatabase.ts"
import * as ClusterMember from "./internal/processes/clusterMember.ts"
import * as ProcessGroup from "./internal/processes/processGroup.ts"
import * as StopDeadline from "./internal/stopDeadline.ts"
import * as Settings from "./Settings.ts"

export type { Ready, ReadyMember } from "./internal/processes/processGroup.ts"

/** Version that `--version` prints. */
export const version = "0.1.0"

/** Command line of a host. */
export interface HostCommand<E> {
  /** Name in the help text. */
  readonly name: string
  readonly description: string
  /** Description of what `--json` prints. */
  readonly json: string
  /** Description of `--workers`. */
  readonly workers: string
  /** Whether clients send requests to it. If it stops, it drains and waits for open requests. */
  readonly servesClients: boolean
  /** The host. Call `say` when it is ready. */
  readonly layer: (settings: Settings.Settings, say: Say, member: Member) => Layer.Layer<never, E>
  /**
   * Joins what the processes of the host would print alone, by index. Without it, the host is one process, whatever
   * `KINORA_PROCESSES` is.
   */
  readonly join?: ((ready: ReadonlyArray<ProcessGroup.ReadyMember>) => ProcessGroup.Ready) | undefined
}

/** Creates the command line of a host. Infers the errors of its start. */
export const command = <E>(host: HostCommand<E>): HostCommand<E> => host

/** Prints a text page, or one line of JSON if `--json` is set. */
export type Say = (ready: ProcessGroup.Ready) => Effect.Effect<void>

/** A process of a host. */
export interface Member {
  /** From 0. The first process starts before the others. */
  readonly index: number
}

/** Flags of the command line of a host. */
export interface HostFlags {
  /** Whether `say` prints a line of JSON. */
  readonly json: boolean
  /** Replaces `KINORA_WORKERS`. */
  readonly workers: Option.Option<number>
}

/** Turns the errors of a start into their messages, one sentence per reason. */
export const explain = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
  Effect.catchCause(effect, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const error = Cause.squash(cause)
    const isExpected = cause.reasons.some(Cause.isFailReason)
    return Effect.fail(
      new CliError.UserError({
        cause: error,
        userMessage: isExpected ? messageOf(error) : `An internal error stopped the process:\n${Cause.pretty(cause)}`
      })
    )
  })

/**
 * Runs a host with the settings of the environment and the command line, until the process
 * receives a signal to stop. While the database is unavailable, the start is repeated. Fails
 * with a `UserError` of one sentence per reason if the host cannot start.
 */
export const run = Effect.fn("Process.run")(function*<E>(host: HostCommand<E>, { json, workers }: HostFlags) {
  // Databases create files without an option for their modes.
  process.umask(0o077)
  const { environment, index } = ClusterMember.memberOf(process.env)
  const settings = yield* Settings.load({
    ...environment,
    ...Option.match(workers, { onNone: () => ({}), onSome: (count) => ({ KINORA_WORKERS: String(count) }) })
  })
  const print: Say = (ready) => Console.log(json ? JSON.stringify(ready.json) : ready.page)
  const { join } = host
  const launch: Effect.Effect<void, E | ProcessGroup.MemberLost | ProcessGroup.MemberNotStarted> = index !== undefined
    ? launchHost(host, portsOf(settings, index), ClusterMember.sayReady, { index })
    : join !== undefined && settings.processes > 1
    ? launchGroup(settings, host.servesClients, (all) => print(join(all)))
    : launchHost(host, settings, print, { index: 0 })
  return yield* Effect.provide(launch, layerTelemetry(settings))
}, explain)

/**
 * Does work with the settings of the environment, such as `Host.migrate`. While the database
 * is unavailable, the work is repeated. Fails like `run`.
 */
export const runOnce = Effect.fn("Process.runOnce")(function*<A, E>(
  work: (settings: Settings.Settings) => Effect.Effect<A, E>
) {
  process.umask(0o077)
  const settings = yield* Settings.load(process.env)
  return yield* Effect.provide(awaitDatabase(settings.databaseWait)(work(settings)), layerTelemetry(settings))
}, explain)

/** Runs a host as the command of the process. */
export const runHost = <E>(host: HostCommand<E>): void => {
  const flags = {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription(`Print one line of JSON when ready: ${host.json}`),
      Flag.withDefault(false)
    ),
    workers: Flag.Int("workers").pipe(Flag.withDescription(`${host.workers} (KINORA_WORKERS)`), Flag.optional)
  }
  runMain(
    Command.make(host.name, flags, (given) => run(host, given)).pipe(
      Command.withDescription(`${host.description} Settings: KINORA_* variables and kinora.config.yaml.`)
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Runs the command line. Exits with 0 after SIGTERM or SIGINT, or with 1 if it does not stop
 * in time. A start that fails prints one sentence per reason and exits with 1.
 */
const runMain = <const Name extends string, Input, E>(
  command: Command.Command<Name, Input, {}, E, Command.Environment>
): void =>
  Command.run(command, { version }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown })
  )

/** Runs the host in this process. */
const launchHost = <E>(host: HostCommand<E>, settings: Settings.Settings, say: Say, member: Member) =>
  StopDeadline.watch(StopDeadline.limitOf(settings, host.servesClients), process).pipe(
    Effect.andThen(awaitDatabase(settings.databaseWait)(Layer.launch(host.layer(settings, say, member)))),
    Effect.scoped
  )

/** Runs the host in several processes, which this one starts. */
const launchGroup = (
  settings: Settings.Settings,
  servesClients: boolean,
  onReady: (all: ReadonlyArray<ProcessGroup.ReadyMember>) => Effect.Effect<void>
) =>
  ProcessGroup.run({
    count: settings.processes,
    fork: ClusterMember.fork,
    onReady,
    // A process ends itself after its own deadline.
    stopTime: Duration.sum(StopDeadline.limitOf(settings, servesClients), Duration.seconds(1)),
    onFailedStop: Effect.sync(() => {
      process.exitCode = 1
    })
  })

/** Each process of a group has a listener for operators of its own, on the next port. */
const portsOf = (settings: Settings.Settings, index: number): Settings.Settings => {
  const { adminPort = 4748 } = settings
  return adminPort === "off" || adminPort === 0
    ? { ...settings, adminPort }
    : { ...settings, adminPort: adminPort + index }
}

/** Logs to standard error: as text on a terminal, otherwise as JSON lines. */
const layerTelemetry = ({ logLevel }: Pick<Settings.Settings, "logLevel">): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([
      process.stderr.isTTY ? Logger.consolePretty() : Logger.withConsoleError(Logger.formatJson)
    ]),
    Layer.succeed(References.LogToStderr, true),
    // No exporter collects spans, and creating them takes a seventh of a request's time.
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
  onExit(stopped ? Number(process.exitCode ?? 0) : 1)
}

const messageOf = (error: unknown): string => {
  const code = causeCodeOf(error)
  if (code === "EADDRINUSE") return "The port is in use. Set KINORA_PORT to another port, or to 0 for any free port"
  if (code === "EACCES") return "This user cannot open the port. Set KINORA_PORT to a port above 1023"
  if (code === "EADDRNOTAVAIL") return "This machine does not have the address. Check KINORA_HOST"
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

/** Returns the system's code of an error while listening, such as `EADDRINUSE`. */
const causeCodeOf = (error: unknown): unknown => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
}
