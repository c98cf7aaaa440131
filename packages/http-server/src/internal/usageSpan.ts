/** Which days a usage report is about (D36). Pure. */
import type { UsageSpan } from "@kinora/generations/Usage"
import { DateTime, Option, Result } from "effect"

/** What a client can ask for. */
export interface Asked {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The days asked for, or what is wrong with them. `to` is today by default, `from` six days before it. */
export const parse = ({ from, to }: Asked, now: DateTime.Utc): Result.Result<UsageSpan, string> => {
  const last = to === undefined ? Option.some(DateTime.removeTime(now)) : parseDay(to)
  if (Option.isNone(last)) return Result.fail("to must be a day that exists, as YYYY-MM-DD.")
  const first = from === undefined
    ? Option.some(DateTime.subtract(last.value, { days: defaultDays - 1 }))
    : parseDay(from)
  if (Option.isNone(first) || first.value.epochMilliseconds < firstDay) {
    return Result.fail("from must be a day that exists, as YYYY-MM-DD.")
  }
  const days = 1 + (last.value.epochMilliseconds - first.value.epochMilliseconds) / millisPerDay
  if (days < 1) return Result.fail("from must not be after to; without to, that is today.")
  if (days > daysMax) return Result.fail(`A report spans at most ${daysMax} days, both ends included; ask for less.`)
  return Result.succeed({ from: DateTime.formatIsoDateUtc(first.value), to: DateTime.formatIsoDateUtc(last.value) })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultDays = 7
const daysMax = 31
const millisPerDay = 86_400_000

/** 0001-01-01. There is no year 0, and Postgres refuses dates of it. */
const firstDay = -62_135_596_800_000

/** 00:00 UTC of a day. Dates that do not exist would roll over into ones that do. */
const parseDay = (text: string): Option.Option<DateTime.Utc> =>
  /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Option.filter(DateTime.make(`${text}T00:00:00.000Z`), (day) => DateTime.formatIsoDateUtc(day) === text)
    : Option.none()
