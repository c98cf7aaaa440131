/** Defines the calls about jobs. */
import { type Generations, type GetOptions, isFinal, type ListQuery } from "../Generations.ts"
import { ConnectionError } from "../KinoraError.ts"
import type { CallOptions, CreateOptions, DownloadOptions } from "../Options.ts"
import type { CreateGenerationRequest, Generation, GenerationList } from "../Wire.ts"
import * as Definition from "./Definition.ts"
import { download } from "./download.ts"
import { dataOf } from "./sse.ts"
import type { Transport } from "./Transport.ts"
import { foreign, parse } from "./wire.ts"

/** See `Generations`. */
export const make = (
  transport: Transport
): Definition.Definitions<{ readonly generations: Generations }>["generations"] => {
  const get = makeGet(transport)
  const page = makePage(transport)

  const file = (name: string) =>
    Definition.file(
      1,
      (id: string, options?: DownloadOptions) =>
        download(transport, { target: `${pathOf(id)}/${name}`, generationId: id }, options)
    )

  return {
    create: Definition.value(
      1,
      (request: CreateGenerationRequest, options?: CreateOptions) =>
        transport.create<Generation>("/generations", request, options)
    ),
    get: Definition.value(1, get),
    wait: Definition.value(1, makeWait(transport, get)),
    cancel: Definition.value(1, (id: string, options?: CallOptions) =>
      transport.json<Generation>({
        ...options,
        method: "POST",
        target: `${pathOf(id)}/cancel`,
        isRepeatable: true,
        generationId: id
      })),
    list: Definition.items(1, makeList(page)),
    page: Definition.value(1, page),
    events: Definition.items(1, makeEvents(transport)),
    content: file("content"),
    preview: file("preview"),
    thumb: file("thumb"),
    poster: file("poster")
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Below the time after which proxies close a silent connection: 30 seconds for the strictest. */
const pollMillisMax = 25_000

const pageSizeMax = 100

const makeGet = (transport: Transport) => (id: string, { waitSeconds, ...options }: GetOptions = {}) =>
  transport.json<Generation>({
    ...options,
    method: "GET",
    target: pathOf(id),
    query: { wait: waitSeconds },
    generationId: id
  })

const makeWait = (transport: Transport, get: Generations["get"]): Generations["wait"] => async (id, options = {}) => {
  const { ambient, limits } = transport
  const deadline = ambient.now() + (options.timeoutMillis ?? limits.waitTimeoutMillis)
  for (;;) {
    const asked = ambient.now()
    const timeoutMillis = deadline - asked
    const waitMillis = Math.min(pollMillisMax, limits.attemptTimeoutMillis / 2, timeoutMillis)
    const generation = await get(id, { ...options, timeoutMillis, waitSeconds: Math.floor(waitMillis / 1000) })
    if (isFinal(generation)) return generation
    // An early response means that other requests occupy all places, or that the server stops.
    const pause = Math.max(0, pauseMillis(generation) - (ambient.now() - asked))
    await transport.pause(pause, deadline, { signal: options.signal, generationId: id })
  }
}

const makeEvents = (transport: Transport) =>
  async function*(id: string, options: CallOptions = {}): AsyncGenerator<Generation, void> {
    const { ambient, limits } = transport
    const deadline = ambient.now() + (options.timeoutMillis ?? limits.waitTimeoutMillis)
    const occasion = { generationId: id, attempts: 1 }
    let last: Generation | undefined
    let lastData = ""
    for (;;) {
      const opened = await transport.open({
        signal: options.signal,
        timeoutMillis: deadline - ambient.now(),
        method: "GET",
        target: `${pathOf(id)}/events`,
        headers: { accept: "text/event-stream" },
        generationId: id
      })
      try {
        if (!isEventStream(opened.response)) throw foreign(opened.response, occasion)
        for await (const data of dataOf(opened)) {
          // Every connection starts with the current state.
          if (data === lastData) continue
          lastData = data
          last = parse<Generation>(opened.response, data, occasion)
          yield last
          if (isFinal(last)) return
        }
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error
      } finally {
        opened.close()
      }
      await transport.pause(pauseMillis(last), deadline, { signal: options.signal, generationId: id })
    }
  }

const makePage =
  (transport: Transport) => (query: ListQuery & { readonly cursor?: string } = {}, options: CallOptions = {}) =>
    transport.json<GenerationList>({ ...options, method: "GET", target: "/generations", query: { ...query } })

const makeList = (page: Generations["page"]) =>
  async function*(query: ListQuery = {}, options: CallOptions = {}): AsyncGenerator<Generation, void> {
    const all = { ...query, limit: query.limit ?? pageSizeMax }
    let cursor: string | null | undefined
    while (cursor !== null) {
      const { data, next_cursor }: GenerationList = await page(cursor === undefined ? all : { ...all, cursor }, options)
      yield* data
      cursor = next_cursor
    }
  }

const pathOf = (id: string) => `/generations/${encodeURIComponent(id)}`

const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") ?? false

/** How long the service asks to wait before the next request. */
const pauseMillis = (generation: Generation | undefined): number => (generation?.next?.after_seconds ?? 1) * 1000
