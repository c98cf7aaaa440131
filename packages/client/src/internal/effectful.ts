/** Promises and iterables as effects and streams. */
import { Clock, Effect, Random, Stream } from "effect"
import type { Failure } from "../KinoraError.ts"
import type { Fetch } from "../Options.ts"
import * as Ambient from "./Ambient.ts"
import { isFailure } from "./wire.ts"

/** The platform's, with the clock and the chance that the fiber has. */
export const ambient = Effect.fnUntraced(function*(fetch: Fetch | undefined) {
  const clock = yield* Clock.Clock
  const random = yield* Random.Random
  const run = Effect.runCallbackWith(yield* Effect.context())
  return {
    ...Ambient.make(fetch),
    now: () => clock.currentTimeMillisUnsafe(),
    after: (millis, wake) => run(Effect.andThen(Effect.sleep(millis), Effect.sync(wake))),
    random: () => random.nextDoubleUnsafe()
  } satisfies Ambient.Ambient
})

/** A call that interruption aborts. */
export const call = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({ try: work, catch: failureOf })

/** A stream whose end aborts what it waits for. */
export const stream = <A>(iterate: (signal: AbortSignal) => AsyncIterable<A>): Stream.Stream<A, Failure> =>
  Stream.suspend(() => Stream.fromAsyncIterable(leavable(iterate), failureOf))

/** The body of an answer. */
export const bytes = (open: (signal: AbortSignal) => Promise<Response>): Stream.Stream<Uint8Array, Failure> =>
  stream((signal) => piecesOf(open, signal))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What is no error of this package is a defect, and so is what is thrown here. */
const failureOf = (error: unknown): Failure => {
  if (isFailure(error)) return error
  throw error
}

/** An iterable that can be left while it waits: a generator alone would let its caller wait too. */
const leavable = <A>(iterate: (signal: AbortSignal) => AsyncIterable<A>): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const left = new AbortController()
    const iterator = iterate(left.signal)[Symbol.asyncIterator]()
    return {
      next: () => iterator.next(),
      return: async () => {
        left.abort()
        await iterator.return?.()
        return { done: true, value: undefined }
      }
    }
  }
})

const piecesOf = async function*(
  open: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal
): AsyncGenerator<Uint8Array, void> {
  const reader = (await open(signal)).body?.getReader()
  if (reader === undefined) return
  try {
    for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) yield value
  } finally {
    await reader.cancel()
  }
}
