/**
 * A connection to one receiver for one request at a time: an undici client over a socket that
 * this module opens, so that it can report the stage at which the connection failed.
 */
import { hostOf, lookupOf, type Target } from "@kinora/address-guard/AddressGuard"
import { connect as connectPlain, isIP, type Socket } from "node:net"
import { connect as connectSecurely, createSecureContext, getCACertificates, type SecureContext } from "node:tls"
import type { Client, Dispatcher } from "undici"

/** Options that all connections share. */
export interface ConnectionOptions {
  readonly secureContext: SecureContext
  /** Milliseconds that an idle connection stays open. */
  readonly idleMillis: number
  /** Bytes of a response, head included. */
  readonly answerBytesMax: number
  /** Bytes of a response head. */
  readonly headBytesMax: number
}

/** Creates a context that trusts Node's certificate authorities and these. Slow, so create it once. */
export const makeSecureContext = (ca: ReadonlyArray<string>): SecureContext =>
  createSecureContext(ca.length === 0 ? {} : { ca: [...getCACertificates("default"), ...ca] })

/** Stage of a connection. */
type Stage = "connecting" | "securing" | "open"

/** A connection. */
export interface Connection {
  readonly client: Dispatcher
  readonly stage: () => Stage
  /** Returns whether the connection may serve the target: same origin, and an address that is checked now. */
  readonly fits: (target: Target) => boolean
  /** Marks the start of a request. Bytes read after it count as its response. */
  readonly expectAnswer: () => void
  /** Closes the connection immediately. A request in flight fails. */
  readonly destroy: () => void
}

/** Creates a connection that opens on its first request, to one of the target's addresses only. */
export const make = (
  undici: { readonly Client: typeof Client },
  target: Target,
  options: ConnectionOptions,
  onClose: (connection: Connection) => void
): Connection => {
  const { origin, protocol } = target.url
  let stage: Stage = "connecting"
  let socket: Socket | undefined
  let bytesBefore = 0

  const client = new undici.Client(target.url.origin, {
    connect: (_, callback) => {
      // A closed connection is not reopened, because its addresses were checked for one request only.
      if (socket !== undefined) return callback(new Error("The connection is closed"), null)
      socket = open(target, options.secureContext)
      const opening = socket
      const fail = (error: Error) => callback(error, null)
      opening.once("error", fail)
      opening.once("connect", () => stage = "securing")
      opening.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        stage = "open"
        opening.off("error", fail)
        callback(null, opening)
        // Counted on the socket, because undici reports neither informational responses nor chunk
        // extensions. Undici's listener runs first, so it has already reported a complete head.
        opening.on("readable", () => {
          if (opening.bytesRead - bytesBefore > options.answerBytesMax) {
            opening.destroy(new Error("The response exceeds the limit of bytes"))
          }
        })
      })
      opening.once("close", () => onClose(connection))
    },
    pipelining: 1,
    maxHeaderSize: options.headBytesMax,
    keepAliveTimeout: options.idleMillis,
    keepAliveMaxTimeout: options.idleMillis,
    // The caller limits the time of the whole send.
    headersTimeout: 0,
    bodyTimeout: 0
  })

  const connection: Connection = {
    client,
    stage: () => stage,
    // A connection that is closing fails before anything is written.
    fits: ({ addresses, url }) => url.origin === origin && addresses.includes(socket?.remoteAddress ?? ""),
    expectAnswer: () => {
      bytesBefore = socket?.bytesRead ?? 0
    },
    destroy: () => {
      socket?.destroy()
      client.destroy(null, ignore)
    }
  }
  return connection
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Timeout of one address before the next one is tried. */
const addressTimeoutMillis = 1_000

/**
 * Opens a socket. Tries the addresses in order. Checks the certificate against the URL's host
 * for every connection: TLS sessions are not resumed, because resumption skips that check.
 */
const open = (target: Target, secureContext: SecureContext): Socket => {
  const { url } = target
  const host = hostOf(url)
  const options = {
    host,
    lookup: lookupOf(target),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressTimeoutMillis,
    noDelay: true
  }
  const socket = url.protocol === "https:"
    ? connectSecurely({
      ...options,
      port: Number(url.port || 443),
      secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
      // SNI does not allow addresses. Without a server name, Node checks the certificate against `host`.
      ...(isIP(host) !== 0 ? {} : { servername: host })
    })
    : connectPlain({ ...options, port: Number(url.port || 80) })
  // Late errors have no other listener and would end the process.
  return socket.on("error", ignore)
}

const ignore = () => {}
