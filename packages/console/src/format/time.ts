/** Times and durations. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** A day in milliseconds. */
export const day = 24 * hour

/** The time in this many days, as requests contain times. */
export const inDays = (days: number): string => new Date(Date.now() + days * day).toISOString()

const plural = (value: number, unit: string) => `${value} ${unit}${value === 1 ? "" : "s"}`

/** A time relative to another: `2 minutes ago`, `just now`, `in 9 days`. */
export const relative = (at: number, now: number): string => {
  const distance = Math.abs(at - now)
  const text = distance < minute
    ? `${Math.floor(distance / second)} s`
    : distance < hour
    ? plural(Math.floor(distance / minute), "minute")
    : distance < day
    ? plural(Math.floor(distance / hour), "hour")
    : distance < 60 * day
    ? plural(Math.floor(distance / day), "day")
    : plural(Math.floor(distance / (30 * day)), "month")
  if (at > now) return distance < second ? "now" : `in ${text}`
  return distance < 5 * second ? "just now" : `${text} ago`
}

/** A time in UTC: `2026-11-24 13:05:09 UTC`. */
export const utc = (at: string): string => `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`

/** A day with its month: `22 Nov 2027`. */
export const date = (at: string): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

/** A duration: `0.2 s`, `48 s`, `2 min 5 s`, `3 h 20 min`. */
export const duration = (millis: number): string => {
  if (millis < 9_950) return `${(Math.max(0, millis) / second).toFixed(1)} s`
  if (millis < minute) return `${Math.round(millis / second)} s`
  if (millis < hour) return `${Math.floor(millis / minute)} min ${Math.floor(millis % minute / second)} s`
  if (millis < day) return `${Math.floor(millis / hour)} h ${Math.floor(millis % hour / minute)} min`
  return `${plural(Math.floor(millis / day), "day")} ${Math.floor(millis % day / hour)} h`
}

/** A UTC day of a time: `2026-11-24`. */
export const isoDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10)
