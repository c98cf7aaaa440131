/** Derives effects and streams from promises and async iterables. */
import { Clock, Effect, Random, Stream } from "effect"
import type { Failure } from "../KinoraError.ts"
import type { CallOptions, DownloadOptions, Fetch } from "../Options.ts"
import * as Ambient from "./Ambient.ts"
import * as Definition from "./Definition.ts"
import { isFailure } from "./wire.ts"

/** The calls of an API as effects and streams. Files are streams of their bytes. */
export type Effects<Api> = { readonly [Group in keyof Api]: GroupEffects<Api[Group]> }

type GroupEffects<Group> = { readonly [Name in keyof Group]: EffectOf<Group[Name]> }

/** A call as an effect or a stream. */
export type EffectOf<Call> = Call extends (...all: infer All) => AsyncIterable<infer A>
  ? (...all: WithoutSignal<All>) => Stream.Stream<A, Failure>
  : Call extends (...all: infer All) => Promise<Response>
    ? (...all: WithoutSignal<All>) => Stream.Stream<Uint8Array, Failure>
  : Call extends (...all: infer All) => Promise<infer A> ? (...all: WithoutSignal<All>) => Effect.Effect<A, Failure>
  : never

/** Interruption takes the place of the signal. Streams have no use for the options that return headers only. */
type WithoutSignal<All> = {
  [Index in keyof All]: "signal" extends keyof NonNullable<All[Index]>
    ? Omit<NonNullable<All[Index]>, keyof Pick<DownloadOptions, "headersOnly" | "ifNoneMatch" | "signal">>
    : All[Index]
}

/** The calls as effects and streams. */
export const effects = <Api extends object>(definitions: Definition.Definitions<Api>): Effects<Api> =>
  // Each definition holds the call of its own name.
  Definition.mapCalls(definitions, effectOf) as Effects<Api>

/** Environment of a client: that of the platform, with the clock and the randomness of the fiber. */
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

/** Runs a promise that interruption aborts. */
export const call = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({ try: work, catch: failureOf })

/** Streams the body of a response. */
export const bytes = (open: (signal: AbortSignal) => Promise<Response>): Stream.Stream<Uint8Array, Failure> =>
  stream((signal) => piecesOf(open, signal))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const effectOf = ({ argumentCount, kind, run }: Definition.Definition<Definition.Run>) => {
  const start = (all: ReadonlyArray<unknown>) => (signal: AbortSignal) => {
    const options = all[argumentCount] as CallOptions | undefined
    // Missing arguments are passed as `undefined`, so that the options stand in their place.
    const before = Array.from({ length: argumentCount }, (_, index) => all[index])
    return run(...before, { ...options, signal })
  }
  // The kind of a definition determines what its `run` returns.
  if (kind === "value") {
    return (...all: ReadonlyArray<unknown>) => call((signal) => start(all)(signal) as Promise<unknown>)
  }
  if (kind === "file") {
    return (...all: ReadonlyArray<unknown>) => bytes((signal) => start(all)(signal) as Promise<Response>)
  }
  return (...all: ReadonlyArray<unknown>) => stream((signal) => start(all)(signal) as AsyncIterable<unknown>)
}

/** Streams an iterable. The end of the stream aborts it. */
const stream = <A>(iterate: (signal: AbortSignal) => AsyncIterable<A>): Stream.Stream<A, Failure> =>
  Stream.suspend(() => Stream.fromAsyncIterable(abortable(iterate), failureOf))

/** Errors of other packages, such as `TypeError`, are defects. */
const failureOf = (error: unknown): Failure => {
  if (isFailure(error)) return error
  throw error
}

/** An iterable that can be ended while it waits. A generator alone ends after its next item only. */
const abortable = <A>(iterate: (signal: AbortSignal) => AsyncIterable<A>): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const ended = new AbortController()
    const iterator = iterate(ended.signal)[Symbol.asyncIterator]()
    return {
      next: () => iterator.next(),
      return: async () => {
        ended.abort()
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
