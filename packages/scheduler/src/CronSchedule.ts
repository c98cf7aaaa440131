/**
 * Enqueues jobs at the ticks of cron expressions.
 *
 *     const nightly = CronSchedule.make({ name: "report", cron: "0 3 * * *", timeZone: "Europe/Berlin", kind: Report, … })
 *     const schedulesLayer = CronSchedule.layer({ schedules: [nightly] })
 *
 * Any number of processes may have the same schedules. Each tick is enqueued once: the unit of work that delays its job also
 * advances the row of the schedule, from the time that it has read. So a process that dies leaves neither or both, and another
 * one continues.
 */
import { Cron, Duration, Effect, Layer, Option, Random, Result } from "effect"
import { checkPriority } from "./internal/priorities.ts"
import type { CronScheduleOptions } from "./internal/requests.ts"
import type { Schedule } from "./internal/ticks.ts"
import { logFailure } from "./internal/worker/settings.ts"
import { Scheduler } from "./Scheduler.ts"

/** A schedule. */
export interface CronSchedule extends Schedule {}

/**
 * Creates a schedule. Throws if the expression, the time zone or a number is invalid, if a `Cron` has no time zone, and if it
 * has several ticks per minute or none at all.
 */
export const make = <Payload>(options: CronScheduleOptions<Payload>): CronSchedule => {
  const { catchUp = 1, cron, kind, lateMax, name, payload, timeZone, ...command } = options
  if (name.length < 1 || name.length > nameMax) throw new Error(`The name of a schedule has 1 to ${nameMax} characters`)
  if (!Number.isSafeInteger(catchUp) || catchUp < 1 || catchUp > catchUpMax) {
    throw new Error(`catchUp of the schedule ${name} must be a whole number from 1 to ${catchUpMax}, got ${catchUp}`)
  }
  // Otherwise each tick would be refused.
  const isValid = checkPriority({ job: name, priority: command.priority })
  if (Result.isFailure(isValid)) throw isValid.failure
  const plain = { name: kind.name, encode: kind.encode, decode: kind.decode }
  return {
    name,
    cron: checked(name, cronOf(name, cron, timeZone)),
    catchUp,
    lateMax: lateMax === undefined ? undefined : Duration.fromInputUnsafe(lateMax),
    commandOf: (tick) => ({
      ...command,
      kind: { name: plain.name, encode: (json) => json, decode: (json) => json },
      payload: plain.encode(payload(tick))
    })
  }
}

/** Options for `layer`. */
interface CronSchedulesOptions {
  /** At most 100, with different names. */
  readonly schedules: ReadonlyArray<CronSchedule>
}

/**
 * Enqueues the jobs of schedules while the layer lives (`Scheduler.enqueueTicks`). Checks when a tick is due, and at least once a
 * minute. A new schedule begins when a process has it for the first time. Dies when it is built if there are too many schedules,
 * or several of one name.
 */
export const layer = ({ schedules }: CronSchedulesOptions): Layer.Layer<never, never, Scheduler> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const names = new Set(schedules.map(({ name }) => name))
    if (names.size < schedules.length || names.size > schedulesMax) {
      return yield* Effect.die(new Error(`A layer has at most ${schedulesMax} schedules, with different names`))
    }
    const { enqueueTicks } = yield* Scheduler
    const look = enqueueTicks(schedules).pipe(logFailure("Reading the schedules failed", failedPause))
    const pause = (next: Duration.Duration) =>
      // Spread, so that several processes do not advance one schedule at the same moment.
      Effect.flatMap(Random.nextBetween(0, spreadMax), (spread) =>
        Effect.sleep(Duration.min(Duration.sum(next, Duration.millis(spread)), lookMax)))
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(look, pause)))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nameMax = 128

const catchUpMax = 100

const schedulesMax = 100

/** Maximum time between checks, since the clock of the database can be set, and differs from that of this process. */
const lookMax = Duration.minutes(1)

/** Pause after a check that failed. */
const failedPause = Duration.seconds(5)

/** Maximum random delay of a check, in milliseconds. */
const spreadMax = 50

const cronOf = (name: string, cron: string | Cron.Cron, timeZone: string | undefined): Cron.Cron => {
  if (typeof cron === "string") return Cron.parseUnsafe(cron, timeZone ?? "UTC")
  if (timeZone !== undefined) throw new Error(`The schedule ${name} has a Cron, which has its own time zone`)
  // The time zone of the process would differ between processes.
  if (Option.isNone(cron.tz)) throw new Error(`The Cron of the schedule ${name} needs a time zone`)
  return cron
}

const checked = (name: string, cron: Cron.Cron): Cron.Cron => {
  if (cron.seconds.size !== 1) throw new Error(`The schedule ${name} may have only one tick per minute`)
  // Throws for a date that does not exist, such as the 30th of February.
  Cron.next(cron, 0)
  return cron
}
