/** One request and its answer over one connection. */
import { Deferred, type Duration, Effect } from "effect"
import type { TransportRequest } from "../../Transport.ts"
import type { Connection } from "./Connection.ts"

/**
 * How it ended. `complete`: the answer was read to its end. `cut`: its head was there, and
 * the rest was not waited for. `spent`: the connection was closed before anything was written.
 */
export type Ending = "complete" | "cut" | "spent" | "connect" | "tls" | "protocol"

/** What is known of the answer before it ends. */
export interface Answer {
  /** `null` until the head is there. */
  status: number | null
}

/**
 * Posts to the path of the URL. Redirects are answers like any other. The head says all;
 * what is behind it is read for so long, not unpacked, and only so that the connection can
 * be used again. The connection bounds the bytes of it all.
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
      // Not heard any more where the rest is waited for.
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
        // Those below 200 announce the answer.
        if (status < 200) {
          announcements++
          if (announcements > announcementsMax) controller.abort(new Error("The answer is announced too often"))
          return
        }
        answer.status = status
        // Most answers come whole, and have ended before this; a time limit costs much of a send.
        queueMicrotask(() => resume(restOf(ended, bodyTimeout)))
      },
      // Undici asks for one.
      onResponseData: () => {},
      onResponseEnd: () => end(Effect.succeed("complete")),
      onResponseError: (_, error) => end(endingOf(error, connection, written, answered))
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Far more than any server has to say before it answers. */
const announcementsMax = 16

const restOf = (ended: Deferred.Deferred<Ending>, bodyTimeout: Duration.Input): Effect.Effect<Ending> =>
  Effect.timeoutOrElse(Deferred.await(ended), {
    duration: bodyTimeout,
    orElse: () => Effect.succeed("cut" as const)
  })

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
