/**
 * Callers in a closed loop: each one calls, waits for the answer, and calls again
 * until the time is over. Their number is how many calls are under way at a time.
 */
import { Effect } from "effect"
import type { Round } from "./Benchmark.ts"
import { percentilesOf } from "./Statistics.ts"

/** How many call, and for how long. */
export interface CallersOptions {
  readonly callers: number
  readonly seconds: number
}

/** Milliseconds on a clock that only goes forward. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Calls an effect. `call` is given the number of the call. */
export const ofEffects = <E, R>(
  { callers, seconds }: CallersOptions,
  call: (n: number) => Effect.Effect<unknown, E, R>
): Effect.Effect<Round, E, R> =>
  Effect.suspend(() => {
    const watch = startWatch(seconds)
    let calls = 0
    const caller = Effect.suspend(() => {
      let began = 0
      return Effect.whileLoop({
        while: () => !watch.isOver(),
        body: () => {
          began = now()
          return call(calls++)
        },
        step: () => watch.note(began)
      })
    })
    return Effect.replicateEffect(caller, callers, { concurrency: "unbounded", discard: true }).pipe(
      Effect.map(() => watch.round())
    )
  })

/** Calls a function of a peer. */
export const ofPromises = async (
  { callers, seconds }: CallersOptions,
  call: (n: number) => Promise<unknown>
): Promise<Round> => {
  const watch = startWatch(seconds)
  let calls = 0
  const caller = async () => {
    while (!watch.isOver()) {
      const began = now()
      await call(calls++)
      watch.note(began)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return watch.round()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const startWatch = (seconds: number) => {
  const began = now()
  const deadline = began + seconds * 1000
  const latencies: Array<number> = []
  return {
    isOver: () => now() >= deadline,
    note: (callBegan: number) => {
      latencies.push(now() - callBegan)
    },
    round: (): Round => ({ perSecond: latencies.length * 1000 / (now() - began), ...percentilesOf(latencies) })
  }
}
