/**
 * One connection to one receiver, for one request at a time: an undici client over a
 * socket that is opened here, since only who opens it can tell how far it came.
 */
import { connect as connectPlain, isIPv6, type LookupFunction, type Socket } from "node:net"
import { connect as connectSecurely, createSecureContext, getCACertificates, type SecureContext } from "node:tls"
import { Client, type Dispatcher } from "undici"
import type { Target } from "../../AddressGuard.ts"
import { isAddress } from "../guard/PublicAddress.ts"
import { hostOf } from "../guard/WebhookUrl.ts"

/** What connections have in common. */
export interface ConnectionOptions {
  readonly secureContext: SecureContext
  /** How long it may wait for its next request. */
  readonly idleMillis: number
  /** Bytes of an answer, whatever they are of. */
  readonly answerBytesMax: number
  /** Bytes of an answer's head. */
  readonly headBytesMax: number
}

/** Trusts whom Node trusts, and these authorities besides. Made once: reading certificates is slow. */
export const makeSecureContext = (ca: ReadonlyArray<string>): SecureContext =>
  createSecureContext(ca.length === 0 ? {} : { ca: [...getCACertificates("default"), ...ca] })

/** How far it came. */
type Stage = "connecting" | "securing" | "open"

/** See the module. */
export interface Connection {
  readonly client: Dispatcher
  readonly stage: () => Stage
  /** Whether a request to the target may go over it: same origin, and an address that is checked now. */
  readonly fits: (target: Target) => boolean
  /** Called when a request is written: its answer begins with the bytes that are read from now on. */
  readonly expectAnswer: () => void
  /** Closes it now. A request that is under way fails. */
  readonly destroy: () => void
}

/** A connection that opens with its first request, to an address of the target and to nothing else. */
export const make = (
  target: Target,
  options: ConnectionOptions,
  onClose: (connection: Connection) => void
): Connection => {
  const { origin, protocol } = target.url
  let stage: Stage = "connecting"
  let socket: Socket | undefined
  let bytesBefore = 0

  const client = new Client(target.url.origin, {
    connect: (_, callback) => {
      // Once closed it stays closed: where it may go was checked for this moment only.
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
        // Counted here, since undici tells of bodies only, and not of announcements and extensions
        // of chunks; behind undici's own listener, which has heard of a head among these bytes.
        opening.on("readable", () => {
          if (opening.bytesRead - bytesBefore > options.answerBytesMax) {
            opening.destroy(new Error("The answer is too long"))
          }
        })
      })
      opening.once("close", () => onClose(connection))
    },
    pipelining: 1,
    maxHeaderSize: options.headBytesMax,
    keepAliveTimeout: options.idleMillis,
    keepAliveMaxTimeout: options.idleMillis,
    // The time limit is of the whole send, and kept outside.
    headersTimeout: 0,
    bodyTimeout: 0
  })

  const connection: Connection = {
    client,
    stage: () => stage,
    // One that is closing now is found out before anything is written.
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

/** How long the next address of a host waits for this one. */
const addressTimeoutMillis = 1_000

/**
 * Of several addresses one after the other is tried. The certificate is checked against
 * the URL's host, anew for each connection: a session that is resumed skips that.
 */
const open = ({ addresses, url }: Target, secureContext: SecureContext): Socket => {
  const host = hostOf(url)
  const options = {
    host,
    lookup: answerWith(addresses),
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
      // Addresses have no place in SNI; Node compares the certificate with `host` then.
      ...(isAddress(host) ? {} : { servername: host })
    })
    : connectPlain({ ...options, port: Number(url.port || 80) })
  // Whoever waits for the connection listens too; late errors have nobody.
  return socket.on("error", ignore)
}

const answerWith = (addresses: ReadonlyArray<string>): LookupFunction => (_name, _options, callback) =>
  callback(null, addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })))

const ignore = () => {}
