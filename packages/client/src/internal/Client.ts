/** Creates all calls of a client. */
import type { Calls, Days, GenerateOptions } from "../Calls.ts"
import { isFinal } from "../Generations.ts"
import { GenerationError } from "../KinoraError.ts"
import type { CallOptions, CreateOptions, DownloadOptions, Options } from "../Options.ts"
import type { Result } from "../Result.ts"
import type * as Wire from "../Wire.ts"
import type { Ambient } from "./Ambient.ts"
import * as Definition from "./Definition.ts"
import { download, lazily } from "./download.ts"
import * as Generations from "./generations.ts"
import * as Transport from "./Transport.ts"
import * as Uploads from "./uploads.ts"

/** Calls of a client by group. */
export type Groups = Pick<Calls, "account" | "generations" | "images" | "models" | "uploads">

/** Calls of a client, and the definitions that they derive from. */
export interface Client {
  readonly definitions: Definition.Definitions<Groups>
  readonly calls: Calls
}

/** Creates all calls. Throws `TypeError` if an option is invalid. */
export const make = (options: Options, ambient: Ambient): Client => {
  const transport = Transport.make(options, ambient)
  const definitions = makeDefinitions(transport)
  const groups = Definition.promises<Groups>(definitions)
  return {
    definitions,
    calls: {
      ...groups,
      generate: makeGenerate(transport, groups.generations),
      download: async (url: string | URL, call?: DownloadOptions) =>
        download(transport, { target: addressOf(url) }, call)
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeDefinitions = (transport: Transport.Transport): Definition.Definitions<Groups> => {
  const get = <A>(target: string, call: CallOptions = {}) => transport.json<A>({ ...call, method: "GET", target })

  return {
    generations: Generations.make(transport),
    uploads: Uploads.make(transport),
    images: {
      generate: Definition.value(
        1,
        (request: Wire.ImageRequest, call: CreateOptions = {}) =>
          transport.create<Wire.ImageResponse>("/images/generations", request, {
            ...call,
            timeoutMillis: call.timeoutMillis ?? transport.limits.waitTimeoutMillis
          })
      )
    },
    models: {
      list: Definition.value(
        0,
        async (call?: CallOptions) =>
          (await get<{ readonly data: ReadonlyArray<Wire.Model> | null }>("/models", call)).data ?? []
      ),
      get: Definition.value(
        1,
        (id: string, call?: CallOptions) => get<Wire.Model>(`/models/${encodeURIComponent(id)}`, call)
      )
    },
    account: {
      get: Definition.value(0, (call?: CallOptions) => get<Wire.Account>("/account", call)),
      usage: Definition.value(
        1,
        ({ from, group_by, to }: Days = {}, call: CallOptions = {}) =>
          transport.json<Wire.UsageReport>({ ...call, method: "GET", target: "/usage", query: { from, to, group_by } })
      )
    }
  }
}

const makeGenerate = (transport: Transport.Transport, generations: Groups["generations"]): Calls["generate"] => {
  /** Reports every later state and returns the last. */
  const follow = async (
    created: Wire.Generation,
    call: CallOptions,
    onUpdate: (generation: Wire.Generation) => void
  ) => {
    let latest = created
    for await (const state of generations.events(created.id, call)) {
      if (state.status !== latest.status) onUpdate(state)
      latest = state
    }
    return latest
  }

  const resultOf = (generation: Wire.CompletedGeneration): Result => ({
    generation,
    stream: () => lazily((signal) => generations.content(generation.id, { signal })),
    bytes: async (call) => new Uint8Array(await (await generations.content(generation.id, call)).arrayBuffer()),
    blob: async (call) => (await generations.content(generation.id, call)).blob()
  })

  return async (
    request: Wire.CreateGenerationRequest,
    { idempotencyKey, onUpdate, signal, timeoutMillis }: GenerateOptions = {}
  ) => {
    const { ambient, limits } = transport
    const deadline = ambient.now() + (timeoutMillis ?? limits.waitTimeoutMillis)
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
}

const isCompleted = (generation: Wire.Generation): generation is Wire.CompletedGeneration =>
  generation.status === "completed"

/** The error does not quote the URL, which can be signed. */
const addressOf = (url: string | URL): URL => {
  const address = URL.parse(url)
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new TypeError("url must be an absolute http:// or https:// URL")
  }
  return address
}
