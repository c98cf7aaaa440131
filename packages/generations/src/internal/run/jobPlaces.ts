/** The number of jobs at the same time, over all worker processes that use one key. */
import { Places } from "@kinora/rate-limit/Places"
import { Effect } from "effect"
import { makeWait } from "./waitForPlace.ts"

/** Options for `makeJobPlaces`. */
export interface JobPlacesOptions {
  /** Processes with the same key share the places. */
  readonly key: string
  /** `undefined`: no limit, and no statement. */
  readonly max: number | undefined
}

/** Places of the jobs of an upstream, or of a model. */
export type JobPlaces = Effect.Success<ReturnType<typeof makeJobPlaces>>

/** Makes places. */
export const makeJobPlaces = Effect.fnUntraced(function*({ key, max = Infinity }: JobPlacesOptions) {
  const { acquire, held } = yield* Places
  const wait = makeWait()
  /** Jobs of this process, and those among them that have a place. */
  let expected = 0
  let placed = 0

  const count = (change: () => void, undo: () => void) =>
    Effect.asVoid(Effect.acquireRelease(Effect.sync(change), () => Effect.sync(undo)))

  const countPlaced = count(() => placed++, () => placed--)

  /** Takes a place until the scope closes. An interrupted job continues at the upstream, so its place stays taken until the next worker of the job has one. */
  const hold = Effect.fnUntraced(function*(places: number) {
    if (!(yield* acquire({ key, max: places, onInterrupt: "expire" }))) return false
    yield* countPlaced
    return true
  }, Effect.uninterruptible)

  return {
    /** Returns how many more jobs can start. Other processes may start some meanwhile. 0 if the database is unavailable. */
    left: max === Infinity ? Effect.succeed(Infinity) : Effect.suspend(() => {
      const unplaced = Math.max(0, expected - placed)
      if (unplaced >= max) return Effect.succeed(0)
      return Effect.match(held(key), { onFailure: () => 0, onSuccess: (held) => max - held - unplaced })
    }),

    /** Counts a claimed job, which has no place yet, until the scope closes. */
    expect: count(() => expected++, () => expected--),

    /** Takes a place until the scope closes. Waits for it, and returns `false` if none becomes free in time. */
    occupy: max === Infinity ? Effect.succeed(true) : wait(hold(max)),

    /** Takes a place for a job that is at the upstream already, also if there are too many. */
    resume: max === Infinity ? Effect.void : Effect.asVoid(hold(placesMax))
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** More than there are jobs. */
const placesMax = 2 ** 31 - 1
