/** Receivers on this machine, and transports that send to them. */
import { AddressGuard, make as makeGuard } from "@kinora/address-guard/AddressGuard"
import type { Certificates } from "@kinora/testkit"
import { Effect, Latch, type Scope } from "effect"
import { once } from "node:events"
import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createHttps } from "node:https"
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import * as UndiciTransport from "../src/UndiciTransport.ts"

/** A listening server. */
export interface Listening {
  readonly port: number
  /** Number of connections so far. */
  readonly connections: () => number
  /** Number of open connections. */
  readonly open: () => number
  /** Opens when the last connection closes. */
  readonly idle: Latch.Latch
}

/** Listens until the scope closes, on any free port by default. */
export const listen = (server: Server, host = "127.0.0.1", port = 0): Effect.Effect<Listening, never, Scope.Scope> =>
  Effect.gen(function*() {
    let connections = 0
    const sockets = new Set<Socket>()
    const idle = Latch.makeUnsafe(true)
    server.on("connection", (socket: Socket) => {
      connections++
      sockets.add(socket)
      idle.closeUnsafe()
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        if (sockets.size === 0) idle.openUnsafe()
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(async () => {
        server.listen(port, host)
        await once(server, "listening")
      }),
      () =>
        Effect.promise(async () => {
          for (const socket of sockets) socket.destroy()
          server.close()
          await once(server, "close")
        })
    )
    return {
      port: (server.address() as AddressInfo).port,
      connections: () => connections,
      open: () => sockets.size,
      idle
    }
  })

/** A received request. */
interface Arrived {
  readonly rawHeaders: ReadonlyArray<string>
  readonly path: string | undefined
  readonly body: Buffer
  /** The local address. */
  readonly address: string | undefined
  /** The SNI of the TLS client; `false` if there was none. */
  readonly servername: string | false | null | undefined
  readonly alpn: string | false | null | undefined
}

/** An HTTP receiver that records requests. */
interface Receiver extends Listening {
  readonly arrived: ReadonlyArray<Arrived>
}

/** Options for a receiver. */
export interface ReceiverOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly certificate?: Certificates.Certificate | undefined
  /** Called when the body was received. Default: responds with 204. */
  readonly answer?: RequestListener | undefined
}

export const makeReceiver = Effect.fnUntraced(function*(options: ReceiverOptions = {}) {
  const arrived: Array<Arrived> = []
  const answer = options.answer ?? ((_, response) => response.writeHead(204).end())
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    const socket = request.socket as TLSSocket
    arrived.push({
      rawHeaders: request.rawHeaders,
      path: request.url,
      body,
      address: socket.localAddress,
      servername: socket.servername,
      alpn: socket.alpnProtocol
    })
    answer(request, response)
  }
  const listener: RequestListener = (request, response) => void receive(request, response)
  const server = options.certificate === undefined ? createHttp(listener) : createHttps(options.certificate, listener)
  const listening = yield* listen(server, options.host, options.port)
  return { ...listening, arrived } satisfies Receiver
})

/** A receiver that handles each connection by itself after its first bytes. */
export const makeRawReceiver = (onRequest: (socket: Socket) => void): Effect.Effect<Listening, never, Scope.Scope> =>
  listen(createTcp((socket) => socket.once("data", () => onRequest(socket))))

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Writes continuously until the connection closes. */
export const flood = (socket: Socket, bytes: string) => {
  const more = () => socket.destroyed || socket.write(bytes, more)
  more()
}

/** A transport that sends to receivers on this machine. */
export const makeTransport = Effect.fnUntraced(
  function*(options: UndiciTransport.UndiciTransportOptions = {}, nameServers?: ReadonlyArray<string>) {
    const guard = yield* makeGuard({ allowPrivate: true, nameServers })
    return yield* Effect.provideService(UndiciTransport.make(options), AddressGuard, guard)
  }
)

/** The posted body. */
export const body = Buffer.from("{\"id\":\"dlv_1\",\"type\":\"order.paid\"}")

/** Posts `body` to the receiver. */
export const requestTo = ({ port }: Listening, host = "127.0.0.1") => ({
  url: `http://${host}:${port}/hooks?a=b`,
  headers: { "Content-Type": "application/json", "X-Service-Signature": "t=1,v1=00", "user-agent": "Service/1.0" },
  body
})
