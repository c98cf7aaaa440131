/** UTC days, by which quotas are counted. */
import { DateTime } from "effect"

/** A UTC day, `YYYY-MM-DD`. */
export type Day = `${number}-${number}-${number}`

/** Returns the UTC day of a moment. */
export const of = (at: DateTime.Utc): Day => DateTime.formatIsoDateUtc(at) as Day // ISO dates have this format

/** Returns the end of the UTC day of a moment: the next 00:00 UTC. */
export const endOf = (at: DateTime.Utc): DateTime.Utc => DateTime.add(DateTime.removeTime(at), { days: 1 })
