/** The kinds that a worker has room for. */
import { Effect } from "effect"
import type { JobHandler } from "../../JobHandler.ts"
import type { Settings } from "./settings.ts"

type Limit = JobHandler["limits"][number]

/**
 * Divides the kinds into those that one claim of `limit` jobs may contain, in the order of
 * the queue, and the limits that leave room for fewer, of whose kinds the claim may contain only
 * resumable jobs. A worker that is nearly full claims all kinds with any room together, so no
 * pool is starved by the others. Kinds of a handler that is not open are in neither. A kind that is
 * paused is like one without room.
 */
export const openKinds = Effect.fnUntraced(function*({ handlers }: Settings, limit: number) {
  const opened = yield* Effect.filter(handlers, ({ isOpen }) => isOpen)
  const open = new Set(opened.flatMap(({ claims }) => claims))
  const paused = (yield* Effect.forEach(opened, ({ paused }) => paused)).flat().filter((kind) => open.delete(kind))
  const limited: Array<Limit> = []
  for (const { kinds: all, room } of opened.flatMap(({ limits }) => limits)) {
    const kinds = all.filter((kind) => !paused.includes(kind))
    if (kinds.length === 0 || (yield* room) >= limit) continue
    limited.push({ kinds, room })
    for (const kind of kinds) open.delete(kind)
  }
  const closed = new Set([...paused, ...limited.flatMap(({ kinds }) => kinds)])
  const claimed = { kinds: Array.from(open), resumableKinds: Array.from(closed) }
  return { claimed, limited }
})
