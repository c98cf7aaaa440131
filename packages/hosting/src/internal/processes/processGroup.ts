/** A group of processes: starts them, replaces those that end, and stops them together. */
import { Clock, Data, Deferred, Duration, Effect, Exit, type Schema } from "effect"

/** Output of a host that is ready. */
export interface Ready {
  readonly page: string
  readonly json: Readonly<Record<string, Schema.Json>>
}

/** Output of one of several processes, and its id. */
export interface ReadyMember extends Ready {
  readonly pid: number
}

/** How a process ended. */
export interface End {
  readonly code: number | null
  /** Name of the signal that killed it. */
  readonly signal: string | null
}

/** A process of the group. */
export interface Member {
  /** Succeeds when the process is ready. */
  readonly ready: Effect.Effect<ReadyMember>
  /** Succeeds when the process has ended. */
  readonly ended: Effect.Effect<End>
  readonly kill: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
}

/** Options for `run`. */
export interface GroupOptions {
  /** Number of processes. */
  readonly count: number
  /** Starts the process with this index, from 0. */
  readonly fork: (index: number) => Effect.Effect<Member>
  /** Runs when all processes are ready for the first time, by index. */
  readonly onReady: (ready: ReadonlyArray<ReadyMember>) => Effect.Effect<void>
  /** Time after `SIGTERM` in which a process ends by itself. Afterwards it is killed. */
  readonly stopTime: Duration.Duration
  /** Runs for each process that had to be killed when the group stopped, or ended with another code than 0. */
  readonly onFailedStop: Effect.Effect<void>
}

/** A process ended before it was ready for the first time. It has printed the reason. */
export class MemberNotStarted
  extends Data.TaggedError("MemberNotStarted")<{ readonly index: number; readonly end: End }>
{
  override get message(): string {
    return `Process ${this.index + 1} did not start: it ${textOf(this.end)}`
  }
}

/** A process ended again and again. */
export class MemberLost extends Data.TaggedError("MemberLost")<{ readonly index: number; readonly end: End }> {
  override get message(): string {
    return `Process ${this.index + 1} was started ${shortLivesMax} times and ended within a minute each time: ` +
      `at last it ${textOf(this.end)}`
  }
}

/**
 * Runs the group until it is interrupted. The first process starts alone, so that one migrates the database; the others
 * follow when it is ready. A process that ends is replaced: at once if it has lived for a minute, otherwise after a pause
 * that doubles each time, from 1 to 30 seconds. Fails if a process ends before it was ready for the first time, or ten
 * times in a row within a minute of its start. When the group ends, all processes are stopped at the same time.
 */
export const run = Effect.fnUntraced(function*({ count, fork, onFailedStop, onReady, stopTime }: GroupOptions) {
  const indexes = Array.from({ length: count }, (_, index) => index)
  const firstReady = yield* Effect.forEach(indexes, () => Deferred.make<ReadyMember>())

  /** One process, from its start to its end. */
  const live = (index: number) =>
    Effect.scoped(Effect.gen(function*() {
      const member = yield* Effect.acquireRelease(
        fork(index),
        (member, exit) => Exit.isSuccess(exit) ? Effect.void : stop(member, stopTime, onFailedStop)
      )
      const run = Effect.andThen(
        Effect.flatMap(member.ready, (ready) => Deferred.succeed(firstReady[index]!, ready)),
        Effect.never
      )
      return yield* Effect.raceFirst(member.ended, run)
    }))

  /** Keeps one process running. */
  const keep = Effect.fnUntraced(function*(index: number) {
    let shortLives = 0
    while (true) {
      const startedAt = yield* Clock.currentTimeMillis
      const end = yield* live(index)
      if (!Deferred.isDoneUnsafe(firstReady[index]!)) return yield* new MemberNotStarted({ index, end })
      const lived = (yield* Clock.currentTimeMillis) - startedAt
      shortLives = lived < Duration.toMillis(livedLong) ? shortLives + 1 : 0
      if (shortLives >= shortLivesMax) return yield* new MemberLost({ index, end })
      yield* Effect.logError(`Process ${index + 1} ${textOf(end)}. Another one takes its place`)
      if (shortLives > 0) yield* Effect.sleep(Duration.min(Duration.times(pauseMin, 2 ** (shortLives - 1)), pauseMax))
    }
  })

  const [first, ...others] = indexes.map(keep)
  return yield* Effect.all(
    [
      first!,
      ...others.map((member) => Effect.andThen(Deferred.await(firstReady[0]!), member)),
      Effect.andThen(Effect.flatMap(Effect.forEach(firstReady, Deferred.await), onReady), Effect.never)
    ],
    { concurrency: "unbounded", discard: true }
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A process that has lived for this long is replaced at once. */
const livedLong = Duration.minutes(1)
/** Lives in a row that ended within this time. */
const shortLivesMax = 10
const pauseMin = Duration.seconds(1)
const pauseMax = Duration.seconds(30)

const textOf = ({ code, signal }: End): string =>
  signal === null ? `ended with code ${code}` : `was killed by ${signal}`

/** Stops a process that has not ended. */
const stop = (member: Member, stopTime: Duration.Duration, onFailed: Effect.Effect<void>) =>
  Effect.gen(function*() {
    yield* member.kill("SIGTERM")
    const end = yield* Effect.timeoutOrElse(Effect.interruptible(member.ended), {
      duration: stopTime,
      orElse: () => Effect.andThen(member.kill("SIGKILL"), member.ended)
    })
    if (end.code !== 0) yield* onFailed
  })
