/** How long programs lack a core, which depends on what else runs on the machine. */
import { Clock, Effect } from "effect"
import { readFile } from "node:fs/promises"

/** A duration on a machine on which other programs run. */
export interface Timed<A> {
  readonly result: A
  /**
   * Milliseconds without those in which the main threads of the programs waited for a core (`withoutWaits`). Without Linux's
   * scheduler statistics, all milliseconds.
   */
  readonly millis: number
}

/** Runs an effect and returns its result and its duration, of which these processes determine the most. */
export const timed = Effect.fnUntraced(function*<A, E, R>(pids: ReadonlyArray<number>, effect: Effect.Effect<A, E, R>) {
  const starved = Effect.map(Effect.forEach(pids, starvedMillis), (each) => each.reduce((sum, one) => sum + one, 0))
  const starvedBefore = yield* starved
  const begin = yield* Clock.currentTimeMillis
  const result = yield* effect
  const elapsed = (yield* Clock.currentTimeMillis) - begin
  const timed: Timed<A> = { result, millis: withoutWaits(elapsed, (yield* starved) - starvedBefore) }
  return timed
})

/**
 * Returns a duration without the time in which programs waited for a core, at least half of the duration. Programs wait at the
 * same time, and while what is measured waits for something else, so more would hide a request that hangs.
 */
export const withoutWaits = (elapsedMillis: number, waitedMillis: number): number =>
  elapsedMillis - Math.min(Math.max(0, waitedMillis), elapsedMillis / 2)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Milliseconds that the main thread of a process could run and had no core, or 0 if there are no statistics. */
const starvedMillis = (pid: number): Effect.Effect<number> =>
  Effect.promise(async () => {
    const [, waited = 0] = (await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => "")).split(" ").map(Number)
    return waited / 1e6
  })
