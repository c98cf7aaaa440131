/** One request and its answer over one connection. */
import { Effect } from "effect"
import type { TransportRequest } from "../../Transport.ts"
import type { Connection } from "./Connection.ts"

/**
 * How it ended. `complete`: the answer was read to its end. `capped`: as much of it was
 * read as is read. `spent`: the connection was closed before anything was written.
 */
export type Ending = "complete" | "capped" | "spent" | "connect" | "tls" | "protocol"

/** What is known of the answer before it ends. */
export interface Answer {
  /** `null` until the head is there. */
  status: number | null
}

/**
 * Posts to the path of the URL. Redirects are answers like any other, compressed
 * bodies are not unpacked, and of the body only its length matters.
 */
export const exchange = (
  connection: Connection,
  url: URL,
  { body, headers }: TransportRequest,
  answer: Answer,
  bytesMax: number
): Effect.Effect<Ending> =>
  Effect.callback((resume) => {
    let written = false
    let answered = false
    let bytes = 0
    connection.client.dispatch({ method: "POST", path: url.pathname + url.search, headers, body }, {
      onRequestStart: () => {
        written = true
      },
      onResponseStarted: () => {
        answered = true
      },
      onResponseStart: (_, status) => {
        // Those below 200 announce the answer.
        if (status >= 200) answer.status = status
      },
      onResponseData: (_, chunk) => {
        bytes += chunk.length
        if (bytes >= bytesMax) resume(Effect.succeed("capped"))
      },
      onResponseEnd: () => resume(Effect.succeed("complete")),
      onResponseError: (_, error) => resume(endingOf(error, connection, written, answered))
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A request that undici does not take is a defect of whoever made it. */
const endingOf = (
  error: NodeJS.ErrnoException,
  connection: Connection,
  written: boolean,
  answered: boolean
): Effect.Effect<Ending> => {
  if (error.code === "UND_ERR_INVALID_ARG") return Effect.die(error)
  return Effect.succeed(written ? afterWriting(error, answered) : beforeWriting(connection))
}

const beforeWriting = (connection: Connection): Ending => {
  switch (connection.stage()) {
    case "connecting":
      return "connect"
    case "securing":
      return "tls"
    case "open":
      return "spent"
  }
}

const afterWriting = (error: NodeJS.ErrnoException, answered: boolean): Ending => {
  // TLS 1.3 refuses a client after the handshake.
  if (error.code?.startsWith("ERR_SSL_") === true) return "tls"
  if (error.syscall !== undefined) return "connect"
  return error.code === "UND_ERR_SOCKET" && !answered ? "connect" : "protocol"
}
