/** Servers of one protocol whose next responses can be replaced. */
import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type Handler, json, listen, type Listening, type Received } from "./Listener.ts"
import type { File } from "./Results.ts"

/** A server of a protocol. */
export interface Scripted extends Listening {
  /** Sends the next request with such a line to `handle` instead of the protocol. */
  readonly next: (line: Line, handle: Handler) => void
  /** Calls `run` after every response of the protocol to a request with such a line. */
  readonly after: (line: Line, run: (request: Received) => void) => void
}

/** Method and path of requests: their start, or a pattern. */
export type Line = string | RegExp

/** Listens with the handler of a protocol. */
export const scripted = (protocol: Handler): Effect.Effect<Scripted, never, Scope.Scope> => {
  const replaced: Array<{ readonly line: Line; readonly handle: Handler }> = []
  const observed: Array<{ readonly line: Line; readonly run: (request: Received) => void }> = []
  return Effect.map(
    listen((request, response) => {
      const index = replaced.findIndex(({ line }) => isLike(line, request))
      const [next] = index < 0 ? [] : replaced.splice(index, 1)
      if (next !== undefined) return next.handle(request, response)
      for (const { line, run } of observed) if (isLike(line, request)) response.once("finish", () => run(request))
      protocol(request, response)
    }),
    (listening) => ({
      ...listening,
      next: (line, handle) => void replaced.push({ line, handle }),
      after: (line, run) => void observed.push({ line, run })
    })
  )
}

/** Listens as the server of the result of every job. Responds with 404 until `content` has a file. */
export const resultServer = (content: { readonly file?: File }): Effect.Effect<Scripted, never, Scope.Scope> =>
  scripted((_, response) =>
    content.file === undefined
      ? void response.writeHead(404).end()
      : sendFile(response, content.file.mime, content.file.bytes)
  )

/** Makes a function that changes all jobs of a server by id. */
export const changesOf =
  <Job extends { readonly id: string }>(jobs: Map<string, Job>) => (changes: Partial<Job>): void => {
    for (const job of jobs.values()) jobs.set(job.id, { ...job, ...changes })
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
export const formOf = ({ body, headers }: Received): Promise<FormData> =>
  new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isLike = (line: Line, { method, path }: Received): boolean =>
  typeof line === "string" ? `${method} ${path}`.startsWith(line) : line.test(`${method} ${path}`)
