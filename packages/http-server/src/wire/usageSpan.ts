/** The days of a usage report. See docs/reference/http-api.md#usage. */
import type { UsageSpan } from "@kinora/generations/Usage"
import { DateTime, Option, Result } from "effect"

/** The query of a request. */
export interface Asked {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Parses the days of a query, or returns what is wrong. By default `to` is today, and `from` six days earlier. */
export const parse = ({ from, to }: Asked, now: DateTime.Utc): Result.Result<UsageSpan, string> => {
  const last = to === undefined ? Option.some(DateTime.removeTime(now)) : parseDay(to)
  if (Option.isNone(last)) return Result.fail("to must be a valid day, YYYY-MM-DD.")
  const first = from === undefined
    ? Option.some(DateTime.subtract(last.value, { days: defaultDays - 1 }))
    : parseDay(from)
  if (Option.isNone(first) || first.value.epochMilliseconds < firstDay) {
    return Result.fail("from must be a valid day, YYYY-MM-DD.")
  }
  const days = 1 + (last.value.epochMilliseconds - first.value.epochMilliseconds) / millisPerDay
  if (days < 1) return Result.fail("from must not be after to, which is today by default.")
  if (days > daysMax) return Result.fail(`from and to must span at most ${daysMax} days, both included.`)
  return Result.succeed({ from: DateTime.formatIsoDateUtc(first.value), to: DateTime.formatIsoDateUtc(last.value) })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultDays = 7
const daysMax = 31
const millisPerDay = 86_400_000

/** 0001-01-01. Postgres rejects dates of the year 0. */
const firstDay = -62_135_596_800_000

/** Parses a day. Compares the result, because days that do not exist would roll over into the next month. */
const parseDay = (text: string): Option.Option<DateTime.Utc> =>
  /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Option.filter(DateTime.make(`${text}T00:00:00.000Z`), (day) => DateTime.formatIsoDateUtc(day) === text)
    : Option.none()
