/** Calls about jobs. */
import { type Generations, type GetOptions, isFinal, type ListQuery } from "../Generations.ts"
import { ConnectionError } from "../KinoraError.ts"
import type { CallOptions, CreateOptions, DownloadOptions } from "../Options.ts"
import type { CreateGenerationRequest, Generation, GenerationList } from "../Wire.ts"
import { download } from "./download.ts"
import { dataOf } from "./sse.ts"
import type { Transport } from "./Transport.ts"
import { foreign, parse } from "./wire.ts"

/** See `Generations`. */
export const make = (transport: Transport): Generations => {
  const { ambient, limits } = transport

  const get = (id: string, { waitSeconds, ...options }: GetOptions = {}) =>
    transport.json<Generation>({
      ...options,
      method: "GET",
      target: pathOf(id),
      query: { wait: waitSeconds },
      generationId: id
    })

  const wait = async (id: string, options: CallOptions = {}): Promise<Generation> => {
    const deadline = ambient.now() + (options.timeoutMillis ?? limits.waitTimeoutMillis)
    for (;;) {
      const asked = ambient.now()
      const timeoutMillis = deadline - asked
      const waitMillis = Math.min(pollMillisMax, limits.attemptTimeoutMillis / 2, timeoutMillis)
      const generation = await get(id, { ...options, timeoutMillis, waitSeconds: Math.floor(waitMillis / 1000) })
      if (isFinal(generation)) return generation
      // Who waited has no need to pause; who was answered early has: other polls took all places, or the server stops.
      const pause = Math.max(0, pauseMillis(generation) - (ambient.now() - asked))
      await transport.pause(pause, deadline, { signal: options.signal, generationId: id })
    }
  }

  const events = async function*(id: string, options: CallOptions = {}): AsyncGenerator<Generation, void> {
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
          // Every connection begins with the state now.
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

  const page = (query: ListQuery & { readonly cursor?: string } = {}, options: CallOptions = {}) =>
    transport.json<GenerationList>({ ...options, method: "GET", target: "/generations", query: { ...query } })

  const list = async function*(query: ListQuery = {}, options: CallOptions = {}): AsyncGenerator<Generation, void> {
    const all = { ...query, limit: query.limit ?? pageSizeMax }
    let cursor: string | null | undefined
    while (cursor !== null) {
      const { data, next_cursor }: GenerationList = await page(cursor === undefined ? all : { ...all, cursor }, options)
      yield* data
      cursor = next_cursor
    }
  }

  const file = (name: string) => (id: string, options?: DownloadOptions) =>
    download(transport, { target: `${pathOf(id)}/${name}`, generationId: id }, options)

  return {
    create: (request: CreateGenerationRequest, { idempotencyKey, ...options }: CreateOptions = {}) =>
      transport.json<Generation>({
        ...options,
        method: "POST",
        target: "/generations",
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey ?? ambient.newKey() },
        body: JSON.stringify(request),
        isRepeatable: true
      }),
    get,
    wait,
    cancel: (id, options = {}) =>
      transport.json<Generation>({
        ...options,
        method: "POST",
        target: `${pathOf(id)}/cancel`,
        isRepeatable: true,
        generationId: id
      }),
    list,
    page,
    events,
    content: file("content"),
    preview: file("preview"),
    thumb: file("thumb"),
    poster: file("poster")
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Below what proxies allow a silent connection, which is 30 seconds where it is least. */
const pollMillisMax = 25_000

const pageSizeMax = 100

const pathOf = (id: string) => `/generations/${encodeURIComponent(id)}`

const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") ?? false

/** How long the service asks to wait before the next look. */
const pauseMillis = (generation: Generation | undefined): number => (generation?.next?.after_seconds ?? 1) * 1000
