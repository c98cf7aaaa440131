/**
 * Raw HTTP client: bytes on a socket, for requests that `fetch` would not send, and for clients that stop reading or
 * disconnect.
 */
import { Data, Effect, type Scope } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"

/** A request. Its parts are sent unchanged. */
export interface RawRequest {
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
export interface RawAnswer {
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
export const write = (socket: Socket, request: RawRequest): Effect.Effect<void> =>
  Effect.sync(() => {
    socket.write(encode(request))
  })

/** Reads until the server closes the connection. */
export const read = (socket: Socket): Effect.Effect<RawAnswer, NotHttp> =>
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
export const send = (baseUrl: string, request: RawRequest): Effect.Effect<RawAnswer, NotHttp> =>
  Effect.flatMap(open(baseUrl), (socket) => Effect.andThen(write(socket, request), read(socket))).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const encode = ({ body, headers = [], host = "127.0.0.1", method, target }: RawRequest): Buffer => {
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

const parse = (received: Buffer): Effect.Effect<RawAnswer, NotHttp> => {
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
