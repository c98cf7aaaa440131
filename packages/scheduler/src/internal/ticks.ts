/** Ticks of cron schedules: which ones are due, and when the next one is. Pure. */
import { Cron, DateTime, Duration, type Schema } from "effect"
import type { Enqueue } from "./requests.ts"

/** A schedule whose payload is encoded. */
export interface Schedule {
  readonly name: string
  readonly cron: Cron.Cron
  readonly catchUp: number
  /** `undefined`: any. */
  readonly lateMax: Duration.Duration | undefined
  /** Returns the job of a tick, without an id. */
  readonly commandOf: (tick: DateTime.Utc) => Omit<Enqueue<Schema.Json>, "job">
}

/** A schedule as a store holds it. */
export interface HandledSchedule {
  readonly name: string
  /** The ticks up to this time were enqueued or skipped. */
  readonly handledUntil: DateTime.Utc
}

/** An advance of a schedule that is at `from`. */
export interface Advance {
  readonly name: string
  readonly from: DateTime.Utc
  readonly to: DateTime.Utc
}

/** Due ticks. */
export interface DueTicks {
  /** The newest tick that is due. */
  readonly last: DateTime.Utc
  /** Those to enqueue, the earliest first. The other due ones are skipped. */
  readonly ticks: ReadonlyArray<DateTime.Utc>
}

/** Returns the ticks that are due: the newest `catchUp` ones of those after `after`, without those that are too late. */
export const dueTicks = (
  { catchUp, cron, lateMax = Duration.infinity }: Pick<Schedule, "catchUp" | "cron" | "lateMax">,
  after: DateTime.Utc,
  now: DateTime.Utc
): DueTicks | undefined => {
  const end = now.epochMilliseconds
  const newest: Array<number> = []
  let tick = nextMillis(cron, startOf(cron, catchUp, after.epochMilliseconds, end))
  for (; tick <= end; tick = nextMillis(cron, tick)) {
    newest.push(tick)
    if (newest.length > catchUp) newest.shift()
  }
  const last = newest.at(-1)
  if (last === undefined) return undefined
  const ticks = newest.filter((tick) => end - tick <= Duration.toMillis(lateMax))
  return { last: DateTime.makeUnsafe(last), ticks: ticks.map((tick) => DateTime.makeUnsafe(tick)) }
}

/**
 * Returns whether a schedule is so far ahead that the clock of the database must have been wrong. After a smaller difference, it
 * waits, so that a clock that is corrected does not repeat ticks.
 */
export const isAhead = (handledUntil: DateTime.Utc, now: DateTime.Utc): boolean =>
  handledUntil.epochMilliseconds - now.epochMilliseconds > aheadMax

/** Returns the time from `now` until the next tick. */
export const untilNext = ({ cron }: Pick<Schedule, "cron">, now: DateTime.Utc): Duration.Duration =>
  Duration.millis(nextMillis(cron, now.epochMilliseconds) - now.epochMilliseconds)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nextMillis = (cron: Cron.Cron, after: number): number => Cron.next(cron, after).getTime()

/**
 * Returns the time from which due ticks are counted. It is `after`, or, after a long downtime, a later one with at least
 * `catchUp` ticks behind it, so that a year of missed ticks is not counted one by one.
 */
const startOf = (cron: Cron.Cron, catchUp: number, after: number, now: number): number => {
  let start = now
  for (let count = 0; count < catchUp && start > after; count++) start = Cron.prev(cron, start).getTime()
  // Around a change of the clocks, the earlier ticks need not be those that the later ones are counted from.
  return Math.max(after, start - margin)
}

/** Milliseconds, more than a change of the clocks. */
const margin = 3 * 3_600_000

/** Milliseconds, 1 day. */
const aheadMax = 24 * 3_600_000
