/** The kinds that a worker has room for. */
import { Effect } from "effect"
import type { JobHandler } from "../../JobHandler.ts"
import type { Settings } from "./settings.ts"

type Limit = JobHandler["limits"][number]

/**
 * Divides the kinds into those that one claim of `limit` jobs may contain, in the order of
 * the queue, and the limits that leave room for fewer, of whose kinds the claim may contain only
 * resumable jobs. A worker that is nearly full claims all kinds with any room together, so no
 * pool is starved by the others. Kinds of a handler that is not open are in neither.
 */
export const openKinds = Effect.fnUntraced(function*({ handlers }: Settings, limit: number) {
  const opened = yield* Effect.filter(handlers, ({ isOpen }) => isOpen)
  const open = new Set(opened.flatMap(({ claims }) => claims))
  const limited: Array<Limit> = []
  for (const pools of opened.flatMap(({ limits }) => limits)) {
    if ((yield* pools.room) >= limit) continue
    limited.push(pools)
    for (const kind of pools.kinds) open.delete(kind)
  }
  const closed = new Set(limited.flatMap(({ kinds }) => kinds))
  const claimed = { kinds: Array.from(open), resumableKinds: Array.from(closed) }
  return { claimed, limited }
})
