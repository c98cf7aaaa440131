/**
 * Callers in a closed loop: each calls, waits for the response, and calls again until
 * the round ends. Their number is the number of concurrent calls.
 */
import { Effect } from "effect"
import type { RatedRound } from "./Benchmark.ts"
import { percentilesOf } from "./Statistics.ts"

/** The number of callers, and the duration of the round. */
export interface CallersOptions {
  readonly callers: number
  readonly seconds: number
}

/** The figures of a round, and the number of its operations. */
export interface Calls {
  readonly round: RatedRound
  readonly count: number
}

/** The time in milliseconds, on a monotonic clock. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Runs an effect per call. `call` receives the number of the call. */
export const ofEffects = <E, R>(
  { callers, seconds }: CallersOptions,
  call: (n: number) => Effect.Effect<unknown, E, R>
): Effect.Effect<Calls, E, R> =>
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
      Effect.map(() => watch.calls())
    )
  })

/** Runs a function of a peer per call. */
export const ofPromises = async (
  { callers, seconds }: CallersOptions,
  call: (n: number) => Promise<unknown>
): Promise<Calls> => {
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
  return watch.calls()
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
    calls: (): Calls => ({
      round: { perSecond: latencies.length * 1000 / (now() - began), ...percentilesOf(latencies) },
      count: latencies.length
    })
  }
}
