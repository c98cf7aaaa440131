/** The operation of the scheduler that enqueues the jobs of cron schedules. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, type DateTime, Duration, Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { JobAddress } from "../Job.ts"
import * as Lanes from "../Lanes.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import type { makeLoad, makeSave } from "./makeLoad.ts"
import { dueTicks, type HandledSchedule, isAhead, type Schedule, untilNext } from "./ticks.ts"

/** Creates the operation. */
export const makeTicks = Effect.fnUntraced(function*(
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  save: Effect.Success<typeof makeSave>
) {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const { uuidV7 } = yield* SecureRandom.SecureRandom

  /** Returns whether another unit has locked the lane or its group. Locks them otherwise. A lane without slots may be missing. */
  const isLocked = Effect.fnUntraced(function*({ group, lane }: Pick<JobAddress, "group" | "lane">) {
    if ((yield* store.lockFree([lane])).length > 0) return false
    return (yield* store.peek(lane, group)).lane.heldMax > 0
  })

  /**
   * Advances a schedule and delays the jobs of its ticks, or does neither if another process has advanced it. Returns the time
   * until the schedule is due again.
   */
  const enqueue = Effect.fnUntraced(function*(schedule: Schedule, from: DateTime.Utc, now: DateTime.Utc) {
    const due = isAhead(from, now) ? { last: now, ticks: [] } : dueTicks(schedule, from, now)
    if (due === undefined) return untilNext(schedule, now)
    const commands = yield* Effect.forEach(
      due.ticks,
      (tick) => Effect.map(uuidV7(), (job) => ({ ...schedule.commandOf(tick), job, runAt: tick }))
    )
    // Waiting for the unit would hold up the other schedules.
    if (commands[0] !== undefined && (yield* isLocked(commands[0]))) return lockedPause
    let lanes = yield* load({ lanes: commands })
    if (!(yield* store.advance({ name: schedule.name, from, to: due.last }))) return untilNext(schedule, now)
    if (isAhead(from, now)) {
      yield* Effect.logWarning("A schedule was ahead of the database, and begins again", { schedule: schedule.name })
    }
    for (const command of commands) {
      // Due already, so a worker places it now. Unlike a job without a delay, it is not lost if the queue is full.
      const delayed = Lanes.delay(lanes, command)
      if (Result.isSuccess(delayed)) lanes = delayed.success.state
      else yield* Effect.logDebug("A tick was skipped", { schedule: schedule.name }, delayed.failure)
    }
    yield* save(lanes)
    return untilNext(schedule, now)
  }, atomically)

  /** Returns the time until the schedule is due again. A schedule that fails does not stop the others. */
  const run = (schedule: Schedule, { handledUntil }: HandledSchedule, now: DateTime.Utc) =>
    Effect.suspend(() => enqueue(schedule, handledUntil, now)).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.failCause(cause)
          : Effect.as(
            Effect.logError("Enqueueing the job of a schedule failed", { schedule: schedule.name }, cause),
            failedPause
          )
      )
    )

  return Effect.fn("Scheduler.enqueueTicks")(function*(schedules: ReadonlyArray<Schedule>) {
    if (schedules.length === 0) return Duration.infinity
    const { handled, now } = yield* store.schedules(schedules.map(({ name }) => name))
    const byName = new Map(handled.map((schedule) => [schedule.name, schedule]))
    const pauses = yield* Effect.forEach(schedules, (schedule) => run(schedule, byName.get(schedule.name)!, now))
    return pauses.reduce(Duration.min)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Time until a schedule is tried again whose job could not be enqueued. */
const failedPause = Duration.seconds(5)

/** Time until a schedule is tried again whose lane another unit has locked. */
const lockedPause = Duration.seconds(1)
