/** Servers of one protocol whose next responses can be replaced. */
import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type Handler, json, listen, type Listening } from "./Listener.ts"

/** A server of a protocol. */
export interface Scripted extends Listening {
  /** Sends the next request whose method and path start like this to `handle` instead of the protocol. */
  readonly next: (start: string, handle: Handler) => void
  /** Calls `run` after every response of the protocol to a request whose method and path start like this. */
  readonly after: (start: string, run: () => void) => void
}

/** Listens with the handler of a protocol. */
export const scripted = (protocol: Handler): Effect.Effect<Scripted, never, Scope.Scope> => {
  const replaced: Array<{ readonly start: string; readonly handle: Handler }> = []
  const observed: Array<{ readonly start: string; readonly run: () => void }> = []
  return Effect.map(
    listen((request, response) => {
      const line = `${request.method} ${request.path}`
      const index = replaced.findIndex(({ start }) => line.startsWith(start))
      const [next] = index < 0 ? [] : replaced.splice(index, 1)
      if (next !== undefined) return next.handle(request, response)
      for (const { run, start } of observed) if (line.startsWith(start)) response.once("finish", run)
      protocol(request, response)
    }),
    (listening) => ({
      ...listening,
      next: (start, handle) => void replaced.push({ start, handle }),
      after: (start, run) => void observed.push({ start, run })
    })
  )
}

/** Responds with a status and text that clients must not see. */
export const responds = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = { error: { message: upstreamText } }
): Handler =>
(_, response) => json(response, status, body, headers)

/** Closes the connection without a response. */
export const drops: Handler = (_, response) => response.destroy()

/** Responds with a file. */
export const sendFile = (response: ServerResponse, mime: string, bytes: Uint8Array): void => {
  response.writeHead(200, { "content-type": mime, "content-length": bytes.length }).end(bytes)
}

/** Responds with half of a file and closes the connection. */
export const truncates = (mime: string, bytes: Uint8Array): Handler => (_, response) => {
  response.writeHead(200, { "content-type": mime, "content-length": bytes.length })
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy())
}

/** Responds with a file that does not end. */
export const sendsForever = (mime: string): Handler => (_, response) => {
  response.writeHead(200, { "content-type": mime })
  const send = () => {
    if (!response.destroyed) response.write(Buffer.alloc(64 * 1024), send)
  }
  send()
}

/** Responds with the start of a file and keeps the connection open. */
export const stops = (mime: string): Handler => (_, response) => {
  response.writeHead(200, { "content-type": mime }).write("start")
}

/** Text of an upstream that no client may see. */
export const upstreamText = "out of memory on gpu-7 at 10.1.2.3"

/** Reads the body of a form. */
export const formOf = ({ body, headers }: Parameters<Handler>[0]): Promise<FormData> =>
  new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData()
