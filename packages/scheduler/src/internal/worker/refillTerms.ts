/** Which jobs a worker leases in the slots of those that end. */
import { Effect, Option } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import type { GroupId } from "../ids.ts"
import type { RefillTerms } from "../storeTypes.ts"
import { openKinds } from "./openKinds.ts"
import { selectionOf } from "./selection.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/**
 * Creates a function that returns the jobs to lease when a set of jobs ends. `undefined`: none, since a claim would leave out some
 * of them, and would search for others.
 */
export const makeRefillTerms = (
  settings: Settings,
  { alone, lease, running }: Pick<WorkerParts, "alone" | "lease" | "running">
) => {
  /** Handlers that write rows in the unit of a claim. */
  const isRecorded = settings.handlers.some(({ claimed }) => claimed !== undefined)

  return Effect.fnUntraced(function*(ended: ReadonlyArray<ClaimedJob>) {
    const current = lease.current()
    if (isRecorded || current === undefined || !lease.isOffering() || alone.isExclusive()) return undefined
    const held = without(running.groups(), ended.map(({ group }) => group))
    const { except, limit } = selectionOf({ ...settings, held })
    const { claimed, limited } = yield* openKinds(settings, limit)
    if (except.length + limited.length + claimed.resumableKinds.length > 0) return undefined
    const terms: RefillTerms = {
      lease: current,
      worker: settings.name,
      kinds: claimed.kinds,
      limit: Math.min(limit, ended.length)
    }
    return terms
  }, (terms) =>
    terms.pipe(
      // Handlers return which kinds are open. Their effects delay no job that ends.
      Effect.interruptible,
      Effect.timeoutOption(openMax),
      Effect.map(Option.getOrUndefined),
      logFailure("Reading the kinds for the next jobs failed", undefined)
    ))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long the end of a job waits for the effects of handlers. */
const openMax = "1 second"

/** The groups, without one occurrence of each of `removed`. */
const without = (groups: ReadonlyArray<GroupId>, removed: ReadonlyArray<GroupId>): ReadonlyArray<GroupId> => {
  const left = new Map<GroupId, number>()
  for (const group of removed) left.set(group, (left.get(group) ?? 0) + 1)
  return groups.filter((group) => {
    const count = left.get(group) ?? 0
    left.set(group, count - 1)
    return count <= 0
  })
}
