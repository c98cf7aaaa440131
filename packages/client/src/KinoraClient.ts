/** The client for Effect: the calls of `Kinora` as effects and streams, with the clock and the randomness of the fiber. */
import { Context, Effect, Layer, Redacted, type Stream } from "effect"
import type { Calls } from "./Calls.ts"
import * as Client from "./internal/Client.ts"
import * as effectful from "./internal/effectful.ts"
import type { Failure } from "./KinoraError.ts"
import type { CreateOptions, Options } from "./Options.ts"
import type { CompletedGeneration, CreateGenerationRequest } from "./Wire.ts"

/** Options of a client. */
export interface KinoraClientOptions extends Omit<Options, "apiKey"> {
  /** An API key of the account. `null` sends none, for pages behind a proxy that adds one. */
  readonly apiKey: Redacted.Redacted | null
}

/** A completed job and its bytes. Each run downloads them again. */
export interface EffectResult {
  readonly generation: CompletedGeneration
  readonly stream: Stream.Stream<Uint8Array, Failure>
  readonly bytes: Effect.Effect<Uint8Array, Failure>
}

/**
 * Client of one service and account. Its calls are those of `Kinora`: promises are effects, async iterables are streams, and
 * files are streams of their bytes. Interruption ends a call; a job that was created continues. A new idempotency key is made
 * for each run of an effect.
 */
export class KinoraClient extends Context.Service<
  KinoraClient,
  & effectful.Effects<Client.Groups>
  & {
    /** See `Kinora.generate`. */
    readonly generate: (
      request: CreateGenerationRequest,
      options?: Omit<CreateOptions, "signal">
    ) => Effect.Effect<EffectResult, Failure>
    /** See `Kinora.download`. */
    readonly download: effectful.EffectOf<Calls["download"]>
  }
>()("@kinora/client/KinoraClient") {}

/** Creates a client. Invalid options are defects. */
export const make = Effect.fnUntraced(function*(options: KinoraClientOptions) {
  const ambient = yield* effectful.ambient(options.fetch)
  const apiKey = options.apiKey === null ? null : Redacted.value(options.apiKey)
  const { calls, definitions } = Client.make({ ...options, apiKey }, ambient)
  const { bytes, call } = effectful

  return KinoraClient.of({
    ...effectful.effects<Client.Groups>(definitions),
    generate: Effect.fn("KinoraClient.generate")(function*(request, options) {
      const { generation } = yield* call((signal) => calls.generate(request, { ...options, signal }))
      const content = (signal: AbortSignal) => calls.generations.content(generation.id, { signal })
      return {
        generation,
        stream: bytes(content),
        bytes: call(async (signal) => new Uint8Array(await (await content(signal)).arrayBuffer()))
      }
    }),
    download: (url, options) => bytes((signal) => calls.download(url, { ...options, signal }))
  })
})

/** `make` as a layer. */
export const layer = (options: KinoraClientOptions): Layer.Layer<KinoraClient> =>
  Layer.effect(KinoraClient, make(options))
