/** The client for those who use Effect: the same calls as effects and streams, on the clock and chance of the fiber. */
import { Context, Effect, Layer, Redacted, type Stream } from "effect"
import type { ListQuery } from "./Generations.ts"
import * as effectful from "./internal/effectful.ts"
import { makeAll } from "./internal/parts.ts"
import type { Days } from "./Kinora.ts"
import type { Failure } from "./KinoraError.ts"
import type { ByteRange, Options } from "./Options.ts"
import type { ImageSource } from "./Uploads.ts"
import type {
  Account,
  CompletedGeneration,
  CreateGenerationRequest,
  Generation,
  GenerationList,
  ImageRequest,
  ImageResponse,
  Model,
  Upload,
  UsageReport
} from "./Wire.ts"

/** How the client is made. */
export interface KinoraClientOptions extends Omit<Options, "apiKey"> {
  /** An API key of the account. `null`: none is sent, for pages behind a proxy that adds one. */
  readonly apiKey: Redacted.Redacted | null
}

/** What every call can be told. Interruption ends a call; a job that was created goes on. */
export interface EffectOptions {
  /** See `CallOptions.timeoutMillis`. */
  readonly timeoutMillis?: number | undefined
}

/** What a call that creates a job can be told. */
export interface CreateEffectOptions extends EffectOptions {
  /** See `CreateOptions.idempotencyKey`. The default is new for each run of the effect. */
  readonly idempotencyKey?: string | undefined
}

/** A completed job and its bytes, which are downloaded anew by each run. */
export interface EffectResult {
  readonly generation: CompletedGeneration
  readonly stream: Stream.Stream<Uint8Array, Failure>
  readonly bytes: Effect.Effect<Uint8Array, Failure>
}

type Call<A> = Effect.Effect<A, Failure>
type Bytes = Stream.Stream<Uint8Array, Failure>
type Download = (id: string, options?: EffectOptions & { readonly range?: ByteRange }) => Bytes

/** A client of one service and account. The members promise what those of `Kinora` do. */
export class KinoraClient extends Context.Service<KinoraClient, {
  readonly generate: (request: CreateGenerationRequest, options?: CreateEffectOptions) => Call<EffectResult>
  readonly generations: {
    readonly create: (request: CreateGenerationRequest, options?: CreateEffectOptions) => Call<Generation>
    readonly get: (id: string, options?: EffectOptions & { readonly waitSeconds?: number }) => Call<Generation>
    readonly wait: (id: string, options?: EffectOptions) => Call<Generation>
    readonly cancel: (id: string, options?: EffectOptions) => Call<Generation>
    readonly list: (query?: ListQuery, options?: EffectOptions) => Stream.Stream<Generation, Failure>
    readonly page: (
      query?: ListQuery & { readonly cursor?: string },
      options?: EffectOptions
    ) => Call<GenerationList>
    readonly events: (id: string, options?: EffectOptions) => Stream.Stream<Generation, Failure>
    readonly content: Download
    readonly preview: Download
    readonly thumb: Download
    readonly poster: Download
  }
  readonly images: { readonly generate: (request: ImageRequest, options?: CreateEffectOptions) => Call<ImageResponse> }
  readonly uploads: {
    readonly create: (image: ImageSource, options?: EffectOptions & { readonly mime?: string }) => Call<Upload>
    readonly delete: (id: string, options?: EffectOptions) => Call<void>
  }
  readonly models: {
    readonly list: (options?: EffectOptions) => Call<ReadonlyArray<Model>>
    readonly get: (id: string, options?: EffectOptions) => Call<Model>
  }
  readonly account: {
    readonly get: (options?: EffectOptions) => Call<Account>
    readonly usage: (days?: Days, options?: EffectOptions) => Call<UsageReport>
  }
  readonly download: (url: string | URL, options?: EffectOptions & { readonly range?: ByteRange }) => Bytes
}>()("@kinora/client/KinoraClient") {}

/** A client. Options that cannot be used are defects. */
export const make = Effect.fnUntraced(function*(options: KinoraClientOptions) {
  const ambient = yield* effectful.ambient(options.fetch)
  const apiKey = options.apiKey === null ? null : Redacted.value(options.apiKey)
  const { account, download, generate, generations, images, models, uploads } = makeAll({ ...options, apiKey }, ambient)
  const { bytes, call, stream } = effectful

  const file = (open: typeof generations.content): Download => (id, options) =>
    bytes((signal) => open(id, { ...options, signal }))

  return KinoraClient.of({
    generate: Effect.fn("KinoraClient.generate")(function*(request, options) {
      const { generation } = yield* call((signal) => generate(request, { ...options, signal }))
      const content = (signal: AbortSignal) => generations.content(generation.id, { signal })
      return {
        generation,
        stream: bytes(content),
        bytes: call(async (signal) => new Uint8Array(await (await content(signal)).arrayBuffer()))
      }
    }),
    generations: {
      create: (request, options) => call((signal) => generations.create(request, { ...options, signal })),
      get: (id, options) => call((signal) => generations.get(id, { ...options, signal })),
      wait: (id, options) => call((signal) => generations.wait(id, { ...options, signal })),
      cancel: (id, options) => call((signal) => generations.cancel(id, { ...options, signal })),
      list: (query, options) => stream((signal) => generations.list(query, { ...options, signal })),
      page: (query, options) => call((signal) => generations.page(query, { ...options, signal })),
      events: (id, options) => stream((signal) => generations.events(id, { ...options, signal })),
      content: file(generations.content),
      preview: file(generations.preview),
      thumb: file(generations.thumb),
      poster: file(generations.poster)
    },
    images: { generate: (request, options) => call((signal) => images.generate(request, { ...options, signal })) },
    uploads: {
      create: (image, options) => call((signal) => uploads.create(image, { ...options, signal })),
      delete: (id, options) => call((signal) => uploads.delete(id, { ...options, signal }))
    },
    models: {
      list: (options) => call((signal) => models.list({ ...options, signal })),
      get: (id, options) => call((signal) => models.get(id, { ...options, signal }))
    },
    account: {
      get: (options) => call((signal) => account.get({ ...options, signal })),
      usage: (days, options) => call((signal) => account.usage(days, { ...options, signal }))
    },
    download: (url, options) => bytes((signal) => download(url, { ...options, signal }))
  })
})

/** `make` as a layer. */
export const layer = (options: KinoraClientOptions): Layer.Layer<KinoraClient> =>
  Layer.effect(KinoraClient, make(options))
