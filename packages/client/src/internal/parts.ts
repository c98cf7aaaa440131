/** Makes all calls of a client. */
import { isFinal } from "../Generations.ts"
import type { GenerateOptions, Kinora } from "../Kinora.ts"
import { GenerationError } from "../KinoraError.ts"
import type { CallOptions, Options } from "../Options.ts"
import type { Result } from "../Result.ts"
import type {
  Account,
  CompletedGeneration,
  CreateGenerationRequest,
  Generation,
  ImageResponse,
  Model,
  UsageReport
} from "../Wire.ts"
import type { Ambient } from "./Ambient.ts"
import { download, lazily } from "./download.ts"
import * as Generations from "./generations.ts"
import * as Transport from "./Transport.ts"
import * as Uploads from "./uploads.ts"

/** What a client has. */
export type Parts = Pick<
  Kinora,
  "account" | "download" | "generate" | "generations" | "images" | "models" | "uploads"
>

/** All calls of one client. Throws `TypeError` when an option cannot be used. */
export const makeAll = (options: Options, ambient: Ambient): Parts => {
  const transport = Transport.make(options, ambient)
  const generations = Generations.make(transport)
  const get = <A>(target: string, call: CallOptions = {}) => transport.json<A>({ ...call, method: "GET", target })

  const generate = async (
    request: CreateGenerationRequest,
    { idempotencyKey, onUpdate, signal, timeoutMillis }: GenerateOptions = {}
  ): Promise<Result> => {
    const deadline = ambient.now() + (timeoutMillis ?? transport.limits.waitTimeoutMillis)
    const created = await generations.create(request, {
      idempotencyKey,
      signal,
      timeoutMillis: deadline - ambient.now()
    })
    const rest = { signal, timeoutMillis: deadline - ambient.now() }
    onUpdate?.(created)
    const finished = isFinal(created)
      ? created
      : onUpdate === undefined
      ? await generations.wait(created.id, rest)
      : await follow(created, rest, onUpdate)
    if (!isCompleted(finished)) throw new GenerationError(finished)
    return resultOf(finished)
  }

  /** Tells of every later state and answers with the last. */
  const follow = async (created: Generation, call: CallOptions, onUpdate: (generation: Generation) => void) => {
    let latest = created
    for await (const state of generations.events(created.id, call)) {
      if (state.status !== latest.status) onUpdate(state)
      latest = state
    }
    return latest
  }

  const resultOf = (generation: CompletedGeneration): Result => ({
    generation,
    stream: () => lazily((signal) => generations.content(generation.id, { signal })),
    bytes: async (call) => new Uint8Array(await (await generations.content(generation.id, call)).arrayBuffer()),
    blob: async (call) => (await generations.content(generation.id, call)).blob()
  })

  return {
    generate,
    generations,
    uploads: Uploads.make(transport),
    images: {
      generate: (request, { idempotencyKey, timeoutMillis = transport.limits.waitTimeoutMillis, ...call } = {}) =>
        transport.json<ImageResponse>({
          ...call,
          timeoutMillis,
          method: "POST",
          target: "/images/generations",
          headers: { "content-type": "application/json", "idempotency-key": idempotencyKey ?? ambient.newKey() },
          body: JSON.stringify(request),
          isRepeatable: true
        })
    },
    models: {
      list: async (call) => (await get<{ readonly data: ReadonlyArray<Model> | null }>("/models", call)).data ?? [],
      get: (id, call) => get<Model>(`/models/${encodeURIComponent(id)}`, call)
    },
    account: {
      get: (call) => get<Account>("/account", call),
      usage: ({ from, to } = {}, call = {}) =>
        transport.json<UsageReport>({ ...call, method: "GET", target: "/usage", query: { from, to } })
    },
    download: async (url, call) => download(transport, { target: addressOf(url) }, call)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isCompleted = (generation: Generation): generation is CompletedGeneration => generation.status === "completed"

/** Not quoted when it is none: it may be signed. */
const addressOf = (url: string | URL): URL => {
  const address = URL.parse(url)
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new TypeError("url must be an address of the service")
  }
  return address
}
