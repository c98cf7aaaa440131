/** Bodies of web requests. */
import { makeCapturedBody } from "./capturedBody.ts"

/** The part of a request of Hono that is used. */
interface ReadableRequest {
  raw: Request
  readonly header: (name: string) => string | undefined
  readonly arrayBuffer: () => Promise<ArrayBuffer>
}

/**
 * Reads the body of a request, up to a size: the value of JSON, the bytes of everything else, or `undefined` without one.
 * The handler can read it again.
 */
export const readBody = async (request: ReadableRequest, sizeMax: number): Promise<unknown> => {
  if (request.raw.body === null) return undefined
  const bytes = await readBytes(request, sizeMax)
  if (bytes === undefined) return "too large"
  if (bytes.length === 0) return undefined
  if (!/^application\/([\w.-]+\+)?json\b/i.test(request.header("content-type") ?? "")) return bytes
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return bytes
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const readBytes = async (request: ReadableRequest, sizeMax: number): Promise<Uint8Array | undefined> => {
  // A middleware has read it, and Hono has it.
  if (request.raw.bodyUsed) return new Uint8Array(await request.arrayBuffer())
  const body = makeCapturedBody(sizeMax)
  const reader = request.raw.body?.getReader()
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    body.add(read.value)
    if (!body.isTooLarge()) continue
    await reader?.cancel()
    return undefined
  }
  const bytes = body.bytes()
  if (bytes !== undefined) request.raw = new Request(request.raw, { method: request.raw.method, body: bytes })
  return bytes
}
