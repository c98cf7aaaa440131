/** One request and its response over one connection. */
import { Deferred, type Duration, Effect } from "effect"
import type { TransportRequest } from "../../Transport.ts"
import type { Connection } from "./Connection.ts"

/**
 * End of an exchange.
 *
 * - `complete`: the response was read to its end.
 * - `cut`: the head was read, and the body took too long.
 * - `spent`: the connection was closed before anything was written.
 * - `connect`, `tls`, `protocol`: the exchange failed at this stage.
 */
export type Ending = "complete" | "cut" | "spent" | "connect" | "tls" | "protocol"

/** The response while it arrives. */
export interface Answer {
  /** HTTP status; `null` until the head is complete. */
  status: number | null
}

/**
 * Posts a request. Does not follow redirects. The status is known when the head is complete;
 * the body is read for at most `bodyTimeout`, only so that the connection can be reused. The
 * connection limits the bytes of the response.
 */
export const exchange = (
  connection: Connection,
  url: URL,
  { body, headers }: TransportRequest,
  answer: Answer,
  bodyTimeout: Duration.Input
): Effect.Effect<Ending> =>
  Effect.callback((resume) => {
    let written = false
    let answered = false
    let announcements = 0
    const ended = Deferred.makeUnsafe<Ending>()
    const end = (ending: Effect.Effect<Ending>) => {
      Deferred.doneUnsafe(ended, ending)
      // Ignored if the exchange already waits for the body.
      resume(ending)
    }
    connection.client.dispatch({ method: "POST", path: url.pathname + url.search, headers, body }, {
      onRequestStart: () => {
        written = true
        connection.expectAnswer()
      },
      onResponseStarted: () => {
        answered = true
      },
      onResponseStart: (controller, status) => {
        // Informational responses precede the response.
        if (status < 200) {
          announcements++
          if (announcements > announcementsMax) controller.abort(new Error("Too many informational responses"))
          return
        }
        answer.status = status
        // Most responses have ended by now, which avoids the cost of a timer.
        queueMicrotask(() => resume(restOf(ended, bodyTimeout)))
      },
      // Undici requires this handler.
      onResponseData: () => {},
      onResponseEnd: () => end(Effect.succeed("complete")),
      onResponseError: (_, error) => end(endingOf(error, connection, written, answered))
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** More informational responses than any server sends. */
const announcementsMax = 16

const restOf = (ended: Deferred.Deferred<Ending>, bodyTimeout: Duration.Input): Effect.Effect<Ending> =>
  Effect.timeoutOrElse(Deferred.await(ended), {
    duration: bodyTimeout,
    orElse: () => Effect.succeed("cut" as const)
  })

/** Dies if undici rejects the request as invalid, which is a bug of the caller. */
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
  // A TLS 1.3 server rejects a client after the handshake.
  if (error.code?.startsWith("ERR_SSL_") === true) return "tls"
  if (error.syscall !== undefined) return "connect"
  return error.code === "UND_ERR_SOCKET" && !answered ? "connect" : "protocol"
}
