/** UTC days, by which quotas are counted (D23). */
import { DateTime } from "effect"

/** A UTC day, `YYYY-MM-DD`. */
export type Day = `${number}-${number}-${number}`

/** The UTC day of a moment. */
export const of = (at: DateTime.Utc): Day => DateTime.formatIsoDateUtc(at) as Day // the format of ISO dates

/** When the UTC day of a moment ends: the next 00:00 UTC. */
export const endOf = (at: DateTime.Utc): DateTime.Utc => DateTime.add(DateTime.removeTime(at), { days: 1 })
