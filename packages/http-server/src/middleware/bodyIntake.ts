/** The memory and the time of one request body while it arrives. */
import { type ApiError, refuse } from "@kinora/http-api/ApiError"
import { Effect } from "effect"
import type { Holding } from "./share.ts"
import type { Transfer, Transfers } from "./transfers.ts"

/** The limits of a body that a handler reads. */
export interface BodyIntake {
  /** Counts bytes that have arrived. Returns `false` if the memory for bodies has no room for them in time. */
  readonly take: (bytes: number) => Effect.Effect<boolean>
  /** Runs the effect that reads the body. Fails if the client sends it too slowly. */
  readonly read: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ApiError<"request_timeout">, R>
}

/** A body without limits. */
export const unlimited: BodyIntake = { take: () => Effect.succeed(true), read: (effect) => effect }

/** Makes the limits of a body that takes memory from a holding. */
export const make = (memory: Holding, transfer: Transfer, tooSlow: Transfers["tooSlow"]): BodyIntake => ({
  take: (bytes) =>
    Effect.suspend(() => {
      transfer.count(bytes)
      // The client cannot send while its request waits for memory.
      transfer.pause()
      return Effect.ensuring(memory.take(bytes), Effect.sync(() => transfer.resume()))
    }),
  read: (effect) => Effect.raceFirst(effect, Effect.andThen(tooSlow(transfer), refuse("request_timeout")))
})
