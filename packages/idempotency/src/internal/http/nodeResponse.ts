/** Captures responses of Node's HTTP server. */
import type { Decision, Sent } from "../../http.ts"
import { makeCapturedBody } from "./capturedBody.ts"
import { type HeaderValues, storedHeaders } from "./storedHeaders.ts"

/** A method of a response of Node, with any parameters. */
type Method = (...args: ReadonlyArray<never>) => unknown

/** The part of `ServerResponse` of Node that is used. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly getHeaders: () => HeaderValues
  readonly once: (event: "close", listener: () => void) => unknown
  writeHead: Method
  write: Method
  end: Method
}

/**
 * Calls `end` of a decision with the response, before its end is sent: a client that has the whole response gets it again.
 * Chunks before the end are sent as they come. `before` are headers that the handler has not set. A response that is not sent completely has no body to store.
 */
export const captureNode = (
  response: NodeResponse,
  { end, sizeMax }: Extract<Decision, { _tag: "Run" }>,
  before: HeaderValues = { ...response.getHeaders() }
): void => {
  const body = makeCapturedBody(sizeMax)
  const original = { writeHead: response.writeHead, write: response.write, end: response.end }
  /**
   * Headers as the handler left them. What earlier middleware adds when the head is written, it adds to a replay too: a stored
   * `content-encoding` of compression would belong to another body.
   */
  let head: HeaderValues | undefined
  let isEnded = false
  const sent = (bytes: Uint8Array | undefined): Sent => ({
    status: response.statusCode,
    headers: storedHeaders(before, head ?? response.getHeaders()),
    body: bytes
  })

  response.writeHead = (...args: ReadonlyArray<unknown>) => {
    const ofHandler = { ...response.getHeaders(), ...headersIn(args) }
    const result: unknown = Reflect.apply(original.writeHead, response, args)
    head = ofHandler
    return result
  }
  response.write = (...args: ReadonlyArray<unknown>) => {
    addChunk(body, args)
    return Reflect.apply(original.write, response, args)
  }
  response.end = (...args: ReadonlyArray<unknown>) => {
    if (isEnded) return response
    // Node throws for another chunk, and for a head that is invalid: before the end, so that the program can send an error.
    if (!isChunk(args[0])) return Reflect.apply(original.end, response, args)
    // From now on the program sees a response that was sent.
    if (!response.headersSent) Reflect.apply(response.writeHead, response, [response.statusCode])
    isEnded = true
    addChunk(body, args)
    void end(sent(body.bytes())).finally(() => Reflect.apply(original.end, response, args))
    return response
  }
  response.once("close", () => {
    // Before the headers the handler may still be working. Afterwards it has done its work.
    if (isEnded || !response.headersSent) return
    isEnded = true
    void end(sent(undefined))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

declare const Buffer: { readonly from: (text: string, encoding?: string) => Uint8Array }

/** Whether the first argument of `end` is one that Node accepts: a chunk, none, or the callback. */
const isChunk = (chunk: unknown): boolean =>
  chunk === undefined || chunk === null || typeof chunk === "string" || typeof chunk === "function" ||
  chunk instanceof Uint8Array

const addChunk = (body: ReturnType<typeof makeCapturedBody>, [chunk, encoding]: ReadonlyArray<unknown>): void => {
  if (chunk instanceof Uint8Array) body.add(chunk)
  else if (typeof chunk === "string") {
    body.add(Buffer.from(chunk, typeof encoding === "string" ? encoding : undefined))
  }
}

/** The headers among the arguments of `writeHead`: an object, or an array of names and values. */
const headersIn = (args: ReadonlyArray<unknown>): HeaderValues => {
  const headers = args.slice(1).find((argument) => typeof argument === "object" && argument !== null)
  if (!Array.isArray(headers)) return { ...headers }
  const flat = headers.flat() as ReadonlyArray<string>
  return Object.fromEntries(flat.flatMap((name, index) => index % 2 === 0 ? [[name, flat[index + 1]] as const] : []))
}
