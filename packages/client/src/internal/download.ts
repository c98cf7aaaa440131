/** Downloads that resume after their connection breaks. */
import { ConnectionError } from "../KinoraError.ts"
import type { ByteRange, DownloadOptions } from "../Options.ts"
import type { Call, Opened, Transport } from "./Transport.ts"

/** Opens a file. The body of the response resumes by itself as long as the file has not changed. */
export const download = async (
  transport: Transport,
  file: Pick<Call, "target" | "generationId">,
  { headersOnly = false, ifNoneMatch, range, signal, timeoutMillis }: DownloadOptions = {}
): Promise<Response> => {
  const call: Call = { ...file, method: headersOnly ? "HEAD" : "GET", isFile: true, signal, timeoutMillis }
  const headers = { "if-none-match": ifNoneMatch, "range": range === undefined ? undefined : rangeText(range) }
  const opened = await transport.open({ ...call, headers })
  const { body, headers: received, status, statusText } = opened.response
  if (headersOnly || body === null || status === 304) {
    opened.close()
    return new Response(null, { status, statusText, headers: received })
  }
  return new Response(resuming(transport, call, opened), { status, statusText, headers: received })
}

/** A stream of the body of a response that is requested with the first read. */
export const lazily = (open: (signal: AbortSignal) => Promise<Response>): ReadableStream<Uint8Array> => {
  const left = new AbortController()
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      reader ??= (await open(left.signal)).body?.getReader()
      const piece = await reader?.read()
      if (piece?.value === undefined) controller.close()
      else controller.enqueue(piece.value)
    },
    cancel: (reason) => {
      left.abort(reason)
      return reader?.cancel(reason)
    }
  }, { highWaterMark: 0 })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rangeText = (range: ByteRange): string =>
  "last" in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end ?? ""}`

/** Position of a body in its file, and the validator of the file. */
interface Extent {
  readonly first: number
  /** Inclusive. */
  readonly last: number
  readonly etag: string
}

/** Returns `undefined` if the response lacks the headers to resume it. */
const extentOf = ({ headers }: Response): Extent | undefined => {
  const etag = headers.get("etag")
  // The bytes of an encoded body are not those of the file.
  if (etag === null || etag.startsWith("W/") || headers.has("content-encoding")) return undefined
  const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(headers.get("content-range") ?? "") ?? []
  if (first !== undefined && last !== undefined) return { first: Number(first), last: Number(last), etag }
  const length = headers.get("content-length")
  return length === null ? undefined : { first: 0, last: Number(length) - 1, etag }
}

const resuming = (transport: Transport, call: Call, begun: Opened): ReadableStream<Uint8Array> => {
  const extent = extentOf(begun.response)
  let opened = begun
  let received = 0
  let breaks = 0

  const missing = () => extent === undefined ? 0 : extent.last - extent.first + 1 - received

  /** Returns the next chunk, from a new connection if this one broke. */
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      try {
        const piece = await opened.next()
        if (piece === undefined && missing() > 0) throw brokenOff(call)
        received += piece?.length ?? 0
        breaks = 0
        return piece
      } catch (error) {
        opened.close()
        if (extent !== undefined && missing() <= 0) return undefined
        breaks++
        const isLost = error instanceof ConnectionError
        if (!isLost || extent === undefined || breaks >= transport.limits.attemptsMax) throw error
        opened = await reopen(extent, error)
      }
    }
  }

  const reopen = async ({ etag, first, last }: Extent, error: ConnectionError): Promise<Opened> => {
    const from = first + received
    const headers = { "range": rangeText({ start: from, end: last }), "if-range": etag }
    const again = await transport.open({ ...call, headers })
    // Any other response is another file, or the whole file.
    if (again.response.status === 206 && extentOf(again.response)?.first === from) return again
    again.close()
    throw error
  }

  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const piece = await next()
      if (piece !== undefined) return controller.enqueue(piece)
      opened.close()
      controller.close()
    },
    cancel: () => opened.close()
  }, { highWaterMark: 0 })
}

const brokenOff = ({ generationId }: Call) =>
  new ConnectionError("The response broke off.", { generationId: generationId ?? null, attempts: 1 })
