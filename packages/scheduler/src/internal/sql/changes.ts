/** Applies decided lanes. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Pipelining from "@kinora/persistence/Pipelining"
import { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type LanesChanges, noChanges } from "../laneChanges.ts"
import { type Applied, type JobSlot, StaleLanes } from "../storeTypes.ts"
import * as Delays from "./delays.ts"
import { promote } from "./promotions.ts"
import { write, writeUnread } from "./writes.ts"

/** Applies changes to lanes that the unit has locked. Dies with `StaleLanes` if they were changed after they were loaded. */
export const apply = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, changes: LanesChanges, slot?: JobSlot) {
  const { delayed, ended, enqueued, groups, lanes, postponed, promotions, retried } = changes
  const now = yield* DatabaseTime.now
  let applied: Applied & { readonly kinds: ReadonlyArray<string> } = {
    promoted: [],
    restamped: 0,
    kinds: [],
    handed: undefined
  }
  if ((yield* Delays.retry(sql, retried, now)) !== retried.length) return yield* stale
  // A new job may have the id of an ended one, so that one is deleted before. Without new jobs, it is deleted with the update of
  // the counters, in one round trip.
  const isFirst = ended.length > 0 && enqueued.length + delayed.length > 0
  if (slot === undefined && !isFirst && isUnread(changes)) {
    yield* writeUnread(sql, changes, now)
    return applied
  }
  if (isFirst) {
    const written = yield* write(sql, { ...noChanges, ended }, now)
    if (written.ended !== ended.length) return yield* stale
  }
  const rest = isFirst ? { ...changes, ended: [] } : changes
  const promoteAll = promotions.length === 0 ? Effect.succeed([]) : promote(sql, promotions, now)
  // The promotions see what was written, and wait for no response to it.
  const [written, rows] = yield* Pipelining.both(
    hasRows(rest) ? write(sql, rest, now, slot) : Effect.undefined,
    postponed.length === 0 ? promoteAll : Effect.andThen(Delays.postpone(sql, postponed, now), promoteAll)
  )
  if (written !== undefined) {
    if (
      written.ended !== rest.ended.length || written.groups !== groups.length || written.lanes !== lanes.length
    ) return yield* stale
    if (written.added !== enqueued.length + delayed.length) return yield* Effect.fail(duplicate())
    applied = { ...applied, restamped: written.restamped, kinds: written.kinds, handed: written.handed }
  }
  if (promotions.length === 0) return applied
  const promoted = rows.filter((row) => row.promoted)
  const expected = promotions.reduce((sum, { count }) => sum + count, 0)
  return promoted.length === expected
    ? {
      ...applied,
      promoted: promoted.map(({ id }) => id),
      kinds: [...applied.kinds, ...promoted.map(({ kind }) => kind)]
    }
    : yield* Effect.die(new Error(`${promoted.length} jobs are pending instead of at least ${expected}`))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const stale = Effect.suspend(() => Effect.die(new StaleLanes()))

/** Returns whether `write` has something to do. */
const hasRows = ({ delayed, ended, enqueued, groups, lanes, restamped }: LanesChanges): boolean =>
  ended.length + enqueued.length + delayed.length + groups.length + lanes.length + restamped.length > 0

/** Returns whether nothing is known only from the rows that the changes return. */
const isUnread = (changes: LanesChanges): boolean => {
  const { delayed, postponed, promotions, restamped } = changes
  return hasRows(changes) && delayed.length + postponed.length + promotions.length + restamped.length === 0
}

/** The index of a table refuses most duplicates, but not a delayed job with the id of another one. */
const duplicate = () =>
  new StorageError({
    operation: "SchedulerStore.apply",
    reason: "failed",
    cause: new Error("A job with the id of an enqueued one exists already")
  })
