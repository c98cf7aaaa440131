/**
 * A server of `node:http` that handles the requests of a connection one after the other.
 *
 * Node emits all requests that a client sends without waiting for responses, and keeps each response until those before it are
 * sent. One connection could use up the requests that a server handles at a time, and hold any number of responses that the client
 * does not read. A request would not wait for the one that it depends on, which RFC 9112 (9.3.2) permits for safe methods only.
 */
import { IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Maximum number of bytes of the heads of requests that wait on a connection. With more, the connection is closed. */
export const waitingBytesMax = 64 * 1024

/** Options of an `OrderedServer`. */
export interface OrderedServerOptions extends ServerOptions {
  /** Maximum number of requests of a connection that wait for the responses before. With a further one, the connection is closed. */
  readonly waitingMax: number
}

/** The server. Requests that still wait when their connection ends are dropped. */
export class OrderedServer extends Server {
  readonly #waitingMax: number
  readonly #lines = new WeakMap<Socket, Line>()

  constructor({ waitingMax, ...options }: OrderedServerOptions) {
    super(options)
    this.#waitingMax = waitingMax
  }

  override emit(event: string, ...args: ReadonlyArray<unknown>): boolean {
    const [request, response] = args
    if (!(request instanceof IncomingMessage)) return super.emit(event, ...args)
    const { socket } = request
    const line = this.#lines.get(socket)
    if (last.has(event)) {
      // Its response could not get the connection. An uncaught error would end the process.
      if (line?.isBusy !== true) return super.emit(event, ...args)
      socket.destroy()
      return true
    }
    if (!ordered.has(event) || !(response instanceof ServerResponse)) return super.emit(event, ...args)
    return this.#append(line ?? this.#open(socket), request, response, () => super.emit(event, ...args))
  }

  #open(socket: Socket): Line {
    const line: Line = { isBusy: false, waiting: [], bytes: 0 }
    this.#lines.set(socket, line)
    return line
  }

  #append(line: Line, request: IncomingMessage, response: ServerResponse, handle: () => boolean): boolean {
    const { socket } = request
    const start = () => {
      line.isBusy = true
      response.once("close", () => {
        line.isBusy = false
        // The response before may have ended the connection.
        if (socket.writable) startNext(line)
        else line.waiting.length = 0
      })
      return handle()
    }
    if (!line.isBusy && line.waiting.length === 0) return start()
    const bytes = headBytesOf(request)
    line.bytes += bytes
    if (line.waiting.length < this.#waitingMax && line.bytes <= waitingBytesMax) line.waiting.push({ bytes, start })
    else socket.destroy()
    return true
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The requests of a connection. */
interface Line {
  /** Whether a response is not sent yet. */
  isBusy: boolean
  /** The requests that wait for it, with the bytes of their heads. */
  readonly waiting: Array<{ readonly bytes: number; readonly start: () => boolean }>
  /** Bytes of the heads of these. */
  bytes: number
}

const startNext = (line: Line): void => {
  const next = line.waiting.shift()
  if (next === undefined) return
  line.bytes -= next.bytes
  next.start()
}

/** Returns about how many bytes the head of a request has. */
const headBytesOf = ({ rawHeaders, url = "" }: IncomingMessage): number =>
  rawHeaders.reduce((sum, { length }) => sum + length, url.length)

/** Events of requests with a response. `checkExpectation` is missing, because its listener emits `request`. */
const ordered: ReadonlySet<string> = new Set(["request", "checkContinue"])

/** Events of requests after which a connection has no others. */
const last: ReadonlySet<string> = new Set(["connect", "upgrade"])
