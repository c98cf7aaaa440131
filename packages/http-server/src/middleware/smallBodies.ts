/**
 * The memory and the time of small request bodies while they arrive.
 *
 * They arrive outside of the time and the number of requests, because anyone can send a body that never ends. A client
 * that does so uses up the part of its own account or address, not the places of others.
 */
import { Duration, Effect } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as BodyIntake from "./bodyIntake.ts"
import { Share } from "./share.ts"
import * as Transfers from "./transfers.ts"

/** Receives small bodies. */
export interface SmallBodies {
  /** Reads a body, which the request keeps for its handler. Returns `false` if there is no room for it in time. */
  readonly receive: (
    request: HttpServerRequest.HttpServerRequest,
    arrival: Arrival
  ) => Effect.Effect<boolean, HttpServerError.HttpServerError>
}

/** Makes the receiver of a listener. Its timer runs until the scope closes. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { bodyStallMax, crowdedWait, smallBodiesBytesMax: max, transferRateMin } = options
  const transfers = yield* Transfers.make
  // A client that has many addresses can use up the part of requests without authentication, but not that of accounts.
  const authenticated = new Share(max, 4, crowdedWait)
  const open = new Share(max, 4, crowdedWait)

  const bodies: SmallBodies = {
    receive: (request, { bytes, isAuthenticated, onTooSlow, owner }) => {
      const memory = (isAuthenticated ? authenticated : open).holding(owner)
      const limits = { rateMin: transferRateMin, stallMax: bodyStallMax, timeMax: Duration.infinity }
      const intake = BodyIntake.make({ memory, transfer: new Transfers.Transfer(limits), transfers, onTooSlow })
      const received = Effect.flatMap(
        intake.take(Math.min(Math.max(bytes, bytesMin), max)),
        (isTaken) => isTaken ? Effect.as(intake.read(BodyIntake.readWhole(request)), true) : Effect.succeed(false)
      )
      return Effect.ensuring(received, Effect.sync(memory.giveBack))
    }
  }
  return bodies
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A body counts with at least this many bytes, which bounds the number of bodies: a request needs memory too. */
const bytesMin = 16 * 1024

/** A body that arrives. */
interface Arrival {
  /** The account or the operator of an authenticated request, or else the addresses of the client. */
  readonly owner: string
  readonly isAuthenticated: boolean
  /** The declared length, or else the most that the body can have. */
  readonly bytes: number
  /** Runs before the request is interrupted because the body is late. */
  readonly onTooSlow: () => void
}
