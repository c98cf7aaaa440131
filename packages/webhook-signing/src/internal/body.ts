/** The body of a request as it arrived, from whatever a framework calls a request. */
import { VerificationError } from "../VerificationError.ts"
import * as header from "./header.ts"

/**
 * A request: a standard `Request`, or one of Node, Express, Fastify, Koa, Nest and others
 * that have headers and either the body's raw bytes or a way to read them.
 */
export interface RequestLike {
  readonly headers: header.HeadersLike
  /** A stream of the standard; or bytes or text, as a raw body parser leaves them. */
  readonly body?: unknown
  /** Bytes or text, where a framework keeps them beside what it parsed. */
  readonly rawBody?: unknown
  /** Of a `Request`: somebody read it. */
  readonly bodyUsed?: boolean
  /** Of a stream of Node: somebody read it. */
  readonly readableDidRead?: boolean
}

/** The bytes or the text; an error says what was handed in instead. */
export const expectRaw = (body: unknown): Uint8Array | string => {
  const found = raw(body)
  if (found !== undefined) return found
  throw new VerificationError(body === undefined || body === null ? "missing_body" : "parsed_body")
}

/** Reads the body, at most that many bytes of it. */
export const read = async (request: RequestLike, bytesMax: number): Promise<Uint8Array | string> => {
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The bytes or the text, or `undefined` where it is neither. It looks at no prototype: test runners have several. */
const raw = (body: unknown): Uint8Array | string | undefined => {
  if (typeof body === "string") return body
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  return Object.prototype.toString.call(body) === "[object ArrayBuffer]"
    ? new Uint8Array(body as ArrayBuffer)
    : undefined
}

type Pieces = AsyncIterable<Uint8Array | string>

/** What a stream of Node has. Left early, it stays open, so that it can still be answered. */
interface NodeStream {
  readonly [Symbol.asyncIterator]: () => AsyncIterator<Uint8Array | string>
  readonly iterator?: (options: { readonly destroyOnReturn: boolean }) => AsyncIterator<Uint8Array | string>
}

/** A body that nobody has read, or `undefined` where the request has no stream. */
const piecesOf = (request: RequestLike): Pieces | undefined => {
  const { body } = request
  if (isWebStream(body)) {
    if (request.bodyUsed === true || body.locked) throw new VerificationError("parsed_body")
    return fromWebStream(body)
  }
  // A `Request` without a body: it says so, and is verified as one of no bytes.
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

/** By its reader, since not every browser iterates over streams. */
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
