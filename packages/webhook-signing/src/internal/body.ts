/** The raw body of a request of any framework. */
import { VerificationError } from "../VerificationError.ts"
import * as header from "./header.ts"

/**
 * A standard `Request`, or a request of Node, Express, Fastify, Koa, Nest or another framework
 * with headers and the raw body or a stream of it.
 */
export interface RequestLike {
  readonly headers: header.HeadersLike
  /** A web stream, or the bytes or text of a raw body parser. */
  readonly body?: unknown
  /** Bytes or text that a framework stores beside the parsed body. */
  readonly rawBody?: unknown
  /** Whether the body of a `Request` was read. */
  readonly bodyUsed?: boolean
  /** Whether a Node stream was read. */
  readonly readableDidRead?: boolean
}

/** Returns raw bytes or text, or throws if the body is missing or parsed. */
export const expectRaw = (body: unknown): Uint8Array | string => {
  const found = raw(body)
  if (found !== undefined) return found
  throw new VerificationError(body === undefined || body === null ? "missing_body" : "parsed_body")
}

/** Reads the body of a request between the two steps of its verification. Returns the result and the body. */
export const verified = async <Pending, Checked>(
  request: RequestLike,
  { begin, bytesMax = 2 * 1024 ** 2, complete }: {
    readonly bytesMax: number | undefined
    readonly begin: (headers: header.HeadersLike) => Pending
    readonly complete: (pending: Pending, bytes: Uint8Array | string) => Promise<Checked>
  }
): Promise<{ readonly checked: Checked; readonly bytes: Uint8Array | string }> => {
  const pending = begin(request.headers)
  const bytes = await read(request, bytesMax)
  return { checked: await complete(pending, bytes), bytes }
}

/** Parses a body as JSON. Returns `undefined` if it is not JSON in UTF-8. */
export const toJson = (body: Uint8Array | string): unknown => {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns raw bytes or text, or `undefined` for anything else. Works across realms, such as those of test runners. */
const raw = (body: unknown): Uint8Array | string | undefined => {
  if (typeof body === "string") return body
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  return Object.prototype.toString.call(body) === "[object ArrayBuffer]"
    ? new Uint8Array(body as ArrayBuffer)
    : undefined
}

/** Reads the raw body, up to `bytesMax` bytes. */
const read = async (request: RequestLike, bytesMax: number): Promise<Uint8Array | string> => {
  const found = raw(request.rawBody) ?? raw(request.body)
  if (found !== undefined) {
    if (found.length > bytesMax) throw tooLarge(bytesMax)
    return found
  }
  const pieces = piecesOf(request)
  if (pieces === undefined) return expectRaw(request.body)
  if (Number(header.read(request.headers, "content-length")) > bytesMax) throw tooLarge(bytesMax)
  return collect(pieces, bytesMax)
}

type Pieces = AsyncIterable<Uint8Array | string>

/** A Node stream. An iterator with `destroyOnReturn: false` leaves it open, so that a response can be sent. */
interface NodeStream {
  readonly [Symbol.asyncIterator]: () => AsyncIterator<Uint8Array | string>
  readonly iterator?: (options: { readonly destroyOnReturn: boolean }) => AsyncIterator<Uint8Array | string>
}

/** Returns the unread stream of a request, or `undefined` if it has none. */
const piecesOf = (request: RequestLike): Pieces | undefined => {
  const { body } = request
  if (isWebStream(body)) {
    if (request.bodyUsed === true || body.locked) throw new VerificationError("parsed_body")
    return fromWebStream(body)
  }
  // A `Request` without a body is verified as an empty body.
  if (body === null && request.bodyUsed === false) return nothing()
  if (!isNodeStream(request)) return undefined
  if (request.readableDidRead === true) throw new VerificationError("parsed_body")
  return {
    [Symbol.asyncIterator]: () => request.iterator?.({ destroyOnReturn: false }) ?? request[Symbol.asyncIterator]()
  }
}

const isWebStream = (body: unknown): body is ReadableStream<Uint8Array> =>
  typeof body === "object" && body !== null && "getReader" in body

const isNodeStream = (request: RequestLike): request is RequestLike & NodeStream => Symbol.asyncIterator in request

async function* nothing(): Pieces {}

/** Uses a reader, because not every browser can iterate over streams. */
async function* fromWebStream(stream: ReadableStream<Uint8Array>): Pieces {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel()
  }
}

const collect = async (pieces: Pieces, bytesMax: number): Promise<Uint8Array> => {
  const kept: Array<Uint8Array> = []
  let length = 0
  for await (const piece of pieces) {
    const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece
    length += bytes.length
    if (length > bytesMax) throw tooLarge(bytesMax)
    kept.push(bytes)
  }
  return concat(kept, length)
}

const concat = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const whole = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}

const tooLarge = (bytesMax: number) =>
  new VerificationError("body_too_large", `The body is larger than ${bytesMax} bytes.`)
