/**
 * Raw HTTP client: any request that `fetch` can send, with the response as it arrived. `sendBytes` sends on a socket what
 * `fetch` does not: malformed heads, half bodies, and clients that stop reading or disconnect.
 */
import { Data, Effect, type Scope } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type * as OpenApiCheck from "./OpenApiCheck.ts"

/** A request to a server. The method is GET by default. */
export interface RawRequest extends RequestInit {
  /** Body, sent as JSON with its media type unless a header has another. A string is sent unchanged. */
  readonly json?: unknown
}

/** Client of one server. It sends a token, or none. Its functions need no `this`. */
export interface RawClient {
  /** Sends a request to a path of the server, or to a URL from one of its responses. */
  readonly send: (path: string, request?: RawRequest) => Promise<Response>
  /** Sends a POST request, with this JSON unless it is `undefined`. */
  readonly post: (path: string, json?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>
  /** The client of the same server that sends this bearer token with each request that has no `Authorization`. */
  readonly withToken: (token: string) => RawClient
}

/** Options of a client. */
export interface RawClientOptions {
  /** Sends a request to a path or URL: `fetch`, or a function that reaches a server in this process. */
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>
  /** Runs on each response, and rejects if it is wrong. Default: none is. */
  readonly check?: typeof OpenApiCheck.check | undefined
}

/** Creates a client without a token. */
export const make = (options: RawClientOptions): RawClient => clientOf(options, undefined)

/**
 * Creates a client without a token for a server behind this base URL. Each request without `X-Forwarded-For` gets its own
 * client address, so that tests on one server do not use up each other's failed authentications. The addresses are reserved
 * for benchmarks (RFC 2544).
 */
export const overSocket = (baseUrl: string, { check }: Pick<RawClientOptions, "check"> = {}): RawClient => {
  let count = 0
  return make({
    check,
    fetch: (path, init) => {
      const headers = new Headers(init.headers)
      if (!headers.has("x-forwarded-for")) {
        count++
        headers.set("x-forwarded-for", `198.18.${count >> 8}.${count & 255}`)
      }
      // Paths are appended: relative to `baseUrl`, `//v1` is the host `v1`.
      return fetch(path.startsWith("/") ? `${baseUrl}${path}` : path, { ...init, headers })
    }
  })
}

/** Sends a request that the service must accept, and returns the body as text. Throws if the status is not 2xx. */
export const sendAccepted = async (
  client: Pick<RawClient, "send">,
  path: string,
  request: RawRequest = {}
): Promise<string> => {
  const response = await client.send(path, request)
  const text = await response.text()
  if (!response.ok) throw new Error(`${request.method ?? "GET"} ${path}: ${response.status} ${text}`)
  return text
}

/** A request for `sendBytes`. Its parts are sent unchanged. */
export interface BytesRequest {
  readonly method: string
  /** Path and query. They are sent without encoding. */
  readonly target: string
  /** The `host` header, or `null` for none. Default `127.0.0.1`. */
  readonly host?: string | null | undefined
  /** In order; names can repeat. `host` and `connection: close` are added. Sent as Latin-1. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]> | undefined
  /** `content-length` is added unless a header gives the length. Text is sent as UTF-8. */
  readonly body?: string | Uint8Array | undefined
}

/** Everything that the server sent before it closed the connection. */
export interface BytesResponse {
  readonly status: number
  /** Names in lower case. Values of the same name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

/** The server sent no HTTP response. */
export class NotHttp extends Data.TaggedError("NotHttp")<{ readonly received: string }> {
  override get message(): string {
    return `The server responded with ${this.received === "" ? "nothing" : JSON.stringify(this.received)}`
  }
}

/** Opens a connection. It is destroyed when the scope closes. */
export const open = (baseUrl: string): Effect.Effect<Socket, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, port } = new URL(baseUrl)
      const socket = connect(Number(port), hostname)
      // The server can end the connection in any way.
      socket.on("error", () => {})
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Writes a request without waiting. */
export const write = (socket: Socket, request: BytesRequest): Effect.Effect<void> =>
  Effect.sync(() => {
    socket.write(encode(request))
  })

/** Reads until the server closes the connection. */
export const read = (socket: Socket): Effect.Effect<BytesResponse, NotHttp> =>
  Effect.flatMap(
    Effect.callback<Buffer>((resume) => {
      const chunks: Array<Buffer> = []
      const keep = (chunk: Buffer) => {
        chunks.push(chunk)
      }
      const end = () => resume(Effect.succeed(Buffer.concat(chunks)))
      socket.on("data", keep).once("close", end)
      return Effect.sync(() => socket.off("data", keep).off("close", end).pause())
    }),
    parse
  )

/**
 * Reads at least this many bytes, headers included, and then stops reading. Returns their number; fails if there are
 * fewer.
 */
export const readSome = (socket: Socket, bytesMin: number): Effect.Effect<number, NotHttp> =>
  Effect.callback((resume) => {
    let count = 0
    const stop = () => socket.off("data", add).off("close", end).pause()
    const add = (chunk: Buffer) => {
      count += chunk.length
      if (count < bytesMin) return
      stop()
      resume(Effect.succeed(count))
    }
    const end = () => resume(Effect.fail(new NotHttp({ received: `${count} bytes` })))
    socket.on("data", add).once("close", end)
    return Effect.sync(stop)
  })

/** Sends a request on a new connection and reads the response to its end. */
export const sendBytes = (baseUrl: string, request: BytesRequest): Effect.Effect<BytesResponse, NotHttp> =>
  Effect.flatMap(open(baseUrl), (socket) => Effect.andThen(write(socket, request), read(socket))).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const clientOf = (options: RawClientOptions, token: string | undefined): RawClient => {
  const { check, fetch } = options
  const send: RawClient["send"] = async (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (token !== undefined && !headers.has("authorization")) headers.set("authorization", `Bearer ${token}`)
    if (json !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json")
    const body = json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) }
    const response = await fetch(path, { ...init, ...body, headers })
    await check?.({ method: init.method ?? "GET", url: path }, response)
    return response
  }
  return {
    send,
    post: (path, json, headers = {}) => send(path, { method: "POST", json, headers }),
    withToken: (token) => clientOf(options, token)
  }
}

const encode = ({ body, headers = [], host = "127.0.0.1", method, target }: BytesRequest): Buffer => {
  const bytes = Buffer.from(body ?? "")
  const tellsLength = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  const all = [
    ...(host === null ? [] : [["host", host]]),
    ["connection", "close"],
    ...(body === undefined || tellsLength ? [] : [["content-length", String(bytes.length)]]),
    ...headers
  ]
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, "latin1"), bytes])
}

const parse = (received: Buffer): Effect.Effect<BytesResponse, NotHttp> => {
  const end = received.indexOf("\r\n\r\n")
  const [first = "", ...lines] = received.toString("latin1", 0, Math.max(end, 0)).split("\r\n")
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]
  if (status === undefined) return Effect.fail(new NotHttp({ received: received.toString("latin1", 0, 500) }))
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(":")
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const body = received.subarray(end + 4)
  return Effect.succeed({
    status: Number(status),
    headers,
    bytes: headers["transfer-encoding"] === "chunked" ? withoutChunks(body) : body
  })
}

const withoutChunks = (body: Buffer): Buffer => {
  const parts: Array<Buffer> = []
  let position = 0
  while (position < body.length) {
    const lineEnd = body.indexOf("\r\n", position)
    const length = Number.parseInt(body.toString("latin1", position, lineEnd), 16)
    if (!(length > 0)) break
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + length))
    position = lineEnd + 2 + length + 2
  }
  return Buffer.concat(parts)
}
