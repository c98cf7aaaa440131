/** The HTTP server of a host: its timeouts, its responses to what is not a request, and the end of its connections. */
import { HttpServerOptions, UnreadableRequest } from "@kinora/http-server"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type ServerOptions, ServerResponse } from "node:http"
import { Socket } from "node:net"
import * as AddressConnections from "./addressConnections.ts"
import * as EarlyRequests from "./earlyRequests.ts"
import { OrderedServer, type OrderedServerOptions } from "./orderedServer.ts"
import * as RequestTarget from "./requestTarget.ts"
import * as UnreadResponses from "./unreadResponses.ts"

/** Times of a server, in milliseconds. */
export const times = {
  /** How long a connection can be without a request. */
  idle: 65_000,
  /** How long the header of a request can take to arrive. */
  header: 20_000,
  /** The interval at which the server looks for late headers. */
  check: 30_000
}

/** Maximum number of open connections of a listener. Node closes further ones without a response, and emits `drop`. */
export const connectionsMax = {
  /** The default for clients. A setting changes it. */
  clients: 10_000,
  operators: 256
}

/** Returns the default maximum number of open connections of a client address: a quarter of those of the listener. */
export const addressMaxOf = (connectionsMax: number): number => Math.ceil(connectionsMax / 4)

/** Default maximum number of requests of a connection that wait for the responses before. */
export const waitingMax = 32

/** How slowly clients can receive responses, and how much, by default. */
export const receiving: UnreadResponses.ReceivingLimits = {
  rateMin: HttpServerOptions.defaults.transferRateMin,
  stallMax: HttpServerOptions.defaults.responseStallMax,
  bytesMax: 128 * 1024 ** 2
}

/** Options for `make`. */
export interface NodeServerOptions {
  /** Maximum number of open connections. */
  readonly connectionsMax: number
  /** Default: the connections of an address are not limited. */
  readonly address?: AddressConnections.AddressLimits | undefined
  /** Default `times`. */
  readonly times?: typeof times | undefined
  /** Default `waitingMax`. */
  readonly waitingMax?: number | undefined
  /** Default `receiving`. */
  readonly receiving?: UnreadResponses.ReceivingLimits | undefined
}

/**
 * Makes a server, and a function that ends its connections: immediately, or with the response in progress. `server.close`
 * alone would wait for connections without a request until they time out, and for those that become idle later for
 * `keepAliveTimeout`.
 */
export const make = (
  { address, connectionsMax, receiving: limits = receiving, times: ofServer = times, waitingMax: waiting = waitingMax }:
    NodeServerOptions
) => {
  const server = createLimited(connectionsMax, { ...optionsOf(ofServer), waitingMax: waiting })
  const sockets = new Set<Socket>()
  /** Connections on which a request has arrived. */
  const used = new WeakSet<Socket>()
  const responses = new Set<ServerResponse>()
  const limitUnread = UnreadResponses.make(limits)
  let isEnding = false

  if (address !== undefined) AddressConnections.limit(server, address)
  server.on("connection", (socket) => {
    if (isEnding) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })

  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader("connection", "close")
  }
  const watch = (request: IncomingMessage, response: ServerResponse) => {
    RequestTarget.normalize(request)
    used.add(request.socket)
    responses.add(response)
    limitUnread(response)
    if (isEnding) closeAfter(response)
    response.once("close", () => {
      responses.delete(response)
      // Its head was sent before `connection: close` could be added.
      if (isEnding) server.closeIdleConnections()
    })
  }
  server.on("request", watch)
  server.on("checkContinue", watch)
  // Of Node before 24.9, which ignores `shouldUpgradeCallback`.
  server.on("upgrade", (request, socket) => {
    RequestTarget.normalize(request)
    used.add(request.socket)
    // Node has no timers for such a connection, which its client could keep open.
    socket.once("finish", () => socket.destroy())
  })
  respondToConnect(server)
  // Other expectations are ignored. Node would reject them without the error envelope.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const inProgress = Array.from(responses).find((response) => response.socket === socket && response.headersSent)
    if (!socket.writable) socket.destroy()
    else if (socket instanceof Socket && isUnused(error, socket)) keepUnused(socket, ofServer, () => used.has(socket))
    else if (inProgress !== undefined) inProgress.once("finish", () => socket.end(() => socket.destroy()))
    else socket.end(unreadable(error), () => socket.destroy())
  })
  EarlyRequests.hold(server)

  const endConnections = Effect.sync(() => {
    isEnding = true
    responses.forEach(closeAfter)
    const busy = new Set(Array.from(responses, ({ socket }) => socket))
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
  })
  return { server, endConnections }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const createLimited = (max: number, options: OrderedServerOptions) =>
  Object.assign(new OrderedServer(options), {
    maxConnections: max,
    // A process of a group would otherwise return the connection to the one that accepts them, which passes it on again,
    // without a pause, until a process has a place.
    dropMaxConnection: true
  })

/** Handles a `CONNECT` like other requests. Node would close the connection without a response. */
const respondToConnect = (server: OrderedServer) =>
  server.on("connect", (request, socket) => {
    socket.on("error", () => socket.destroy())
    if (!(socket instanceof Socket)) return socket.destroy()
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once("finish", () => socket.end(() => socket.destroy()))
    return server.emit("request", request, response)
  })

const optionsOf = ({ check, header, idle }: typeof times): ServerOptions => ({
  keepAliveTimeout: idle,
  requestTimeout: 300_000,
  headersTimeout: header,
  connectionsCheckingInterval: check,
  // No protocol but HTTP: a request to upgrade is handled like others, as if it had no `Upgrade`.
  shouldUpgradeCallback: () => false,
  // Node would reject requests without `Host` without the error envelope.
  requireHostHeader: false
})

/** Whether Node reports the request of a connection as late on which none has begun. */
const isUnused = (error: NodeJS.ErrnoException, socket: Socket) => isLate(error) && socket.bytesRead === 0

/**
 * Keeps a connection open on which no request has begun, and closes it without a response if none begins in the time that
 * a connection can be without a request. Clients open connections ahead of their requests. One that sends its first
 * request when a 408 is on its way takes that for the response to the request.
 */
const keepUnused = (socket: Socket, { check, header, idle }: typeof times, isUsed: () => boolean) => {
  const close = Effect.sync(() => {
    if (!isUsed()) socket.destroy()
  })
  // Node responds to a late header. It does not report line breaks, which begin no request.
  const lastWait = Effect.suspend(() => socket.bytesRead > 0 ? Effect.sleep(header + check) : Effect.void)
  const closeUnused = Effect.sleep(idle).pipe(Effect.andThen(lastWait), Effect.andThen(close))
  const cancel = Effect.runCallback(closeUnused)
  socket.once("close", () => cancel())
}

const isLate = ({ code }: NodeJS.ErrnoException) => code === "ERR_HTTP_REQUEST_TIMEOUT"

const unreadable = (error: NodeJS.ErrnoException) =>
  UnreadableRequest.answer(`req_${randomUUID().replaceAll("-", "")}`, { isLate: isLate(error) })
