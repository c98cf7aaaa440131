/** The memory and the time of one request body while it arrives. */
import { Effect, Fiber } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Holding } from "./share.ts"
import type { Transfer, Transfers } from "./transfers.ts"

/** The limits of a body that a handler reads. */
export interface BodyIntake {
  /** Counts bytes that have arrived. Returns `false` if the memory for bodies has no room for them in time. */
  readonly take: (bytes: number) => Effect.Effect<boolean>
  /** Runs the effect that reads the body. Interrupts it if the client sends the body too slowly. */
  readonly read: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** A body without limits. */
export const unlimited: BodyIntake = { take: () => Effect.succeed(true), read: (effect) => effect }

/** Options for `make`. */
export interface BodyIntakeOptions {
  /** The memory that the body takes. */
  readonly memory: Holding
  readonly transfer: Transfer
  readonly transfers: Transfers
  /** Waits until further bytes can be read, unless they can at once. See `RequestBudget.pace`. */
  readonly pace?: ((bytes: number) => Effect.Effect<void> | undefined) | undefined
  /** Runs before the effect that reads a slow body is interrupted. */
  readonly onTooSlow: () => void
}

/** Makes the limits of a body. */
export const make = ({ memory, onTooSlow, pace, transfer, transfers }: BodyIntakeOptions): BodyIntake => ({
  take: (bytes) =>
    Effect.suspend(() => {
      transfer.count(bytes)
      // The client cannot send while its request waits for memory.
      transfer.pause()
      const taken = Effect.ensuring(memory.take(bytes), Effect.sync(() => transfer.resume()))
      const turns = pace?.(bytes)
      // After the memory is taken, so that what waits for its turn is counted.
      return turns === undefined ? taken : Effect.tap(taken, (isTaken) => isTaken ? turns : Effect.void)
    }),
  // An interruption needs no fiber until it happens, unlike a race.
  read: (effect) =>
    Effect.withFiber((fiber) => {
      transfers.start(transfer, () => {
        onTooSlow()
        fiber.interruptUnsafe()
      })
      return Effect.ensuring(effect, Effect.sync(() => transfers.stop(transfer)))
    })
})

/**
 * Reads a body in a fiber of its own. An interruption of the reader would close the connection before the response to a
 * late body is sent. The reader ends when the connection is closed after the response.
 */
export const readWhole = ({ arrayBuffer }: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(Effect.forkDetach(arrayBuffer, { startImmediately: true }), Fiber.join)
