/** HTTP/1.1 over connections to checked addresses, with undici. */
import { Duration, Effect, type Scope } from "effect"
import type { Readable } from "node:stream"
import type { Client } from "undici"
import { lookupOf, type Target } from "./AddressGuard.ts"

/** Options for `connect`. */
export interface ConnectOptions {
  /** Maximum bytes of a response head. Default 16 KiB. */
  readonly headBytesMax?: number | undefined
  /** Time limit of connecting; 0 for none. Default 10 seconds. */
  readonly connectTimeout?: Duration.Input | undefined
}

/**
 * Creates a client for requests to the target's origin, which connects to the checked addresses only. Requests have no time
 * limit, and redirects are not followed. Its connection closes with the scope.
 */
export const connect = (
  target: Target,
  { connectTimeout = "10 seconds", headBytesMax = 16 * 1024 }: ConnectOptions = {}
): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    // Undici is loaded for the first request. Its files take 0.1 seconds.
    Effect.map(Effect.promise(() => import("undici")), ({ Client }) =>
      new Client(target.url.origin, {
        allowH2: false,
        pipelining: 1,
        maxHeaderSize: headBytesMax,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: {
          timeout: Duration.toMillis(connectTimeout),
          lookup: lookupOf(target),
          autoSelectFamily: true,
          // A resumed session skips the check of the certificate.
          maxCachedSessions: 0
        }
      })),
    (client) => Effect.promise(() => client.destroy())
  )

/**
 * Reads the body of a response to its end. Returns `undefined` and closes the connection if the body has more than
 * `bytesMax` bytes. Rejects if the connection ends early.
 */
export const readWhole = async (body: Readable, bytesMax: number): Promise<Buffer<ArrayBuffer> | undefined> => {
  const parts: Array<Buffer> = []
  let total = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    total += part.length
    if (total > bytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts, total)
}
