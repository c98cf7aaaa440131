/** Where claims are kept. Stores load and write; the rules are in `Claim`. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Context, type DateTime, Effect, Layer } from "effect"
import * as Claim from "./Claim.ts"
import type { IdempotencyError } from "./IdempotencyError.ts"

/** A claim to keep, with the time of the request that makes it. */
export interface Arriving extends Claim.Held {
  readonly at: DateTime.Utc
}

/**
 * The port. Every set has distinct slots and comes sorted by `slotText`, so that
 * two units never wait for each other crosswise; implementers keep that order.
 */
export class IdempotencyStore extends Context.Service<IdempotencyStore, {
  /** The claims in these slots, over or not. */
  readonly find: (slots: ReadonlyArray<Claim.Slot>) => Effect.Effect<ReadonlyArray<Claim.Held>, StorageError>

  /**
   * Keeps each claim whose slot is free or held by a claim that is over, and
   * answers with the claims that hold the other slots, which cannot change until
   * the unit ends. Waits for units that are about to claim the same slots; fails
   * with `InProgress` when one takes longer than the database waits for locks.
   */
  readonly claim: (
    arriving: ReadonlyArray<Arriving>
  ) => Effect.Effect<ReadonlyArray<Claim.Held>, IdempotencyError | StorageError>

  /** Frees the slots that are held for the given references. */
  readonly release: (held: ReadonlyArray<Claim.Held>) => Effect.Effect<void, StorageError>

  /**
   * Moves the end of each claim to the given one if that is later and the slot is
   * free, over, or held for the same reference. Other slots stay as they are.
   */
  readonly extend: (arriving: ReadonlyArray<Arriving>) => Effect.Effect<void, StorageError>

  /** Deletes up to `limit` claims that are over; answers how many. */
  readonly sweep: (at: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/idempotency/IdempotencyStore") {}

/** Keeps claims in the memory of the process, inside its units of work. Never waits for another unit's claim. */
export const layerMemory: Layer.Layer<IdempotencyStore, never, MemoryBackend> = Layer.effect(
  IdempotencyStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const claims = memory.makeMap<string, Claim.Held>()

    return IdempotencyStore.of({
      find: (slots) => memory.access(() => slots.flatMap((slot) => claims.get(Claim.slotText(slot)) ?? [])),

      claim: (arriving) =>
        memory.access(() =>
          arriving.flatMap((claim) => {
            const slot = Claim.slotText(claim)
            const held = claims.get(slot)
            if (held !== undefined && Claim.holds(held, claim.at)) return [held]
            claims.set(slot, claim)
            return []
          })
        ),

      release: (held) =>
        memory.access(() => {
          for (const claim of held) {
            const slot = Claim.slotText(claim)
            if (claims.get(slot)?.reference === claim.reference) claims.delete(slot)
          }
        }),

      extend: (arriving) =>
        memory.access(() => {
          for (const claim of arriving) {
            const slot = Claim.slotText(claim)
            if (Claim.mayExtend(claims.get(slot), claim, claim.at)) claims.set(slot, claim)
          }
        }),

      sweep: (at, limit) =>
        memory.access(() => {
          const over = Array.from(claims.values()).filter((held) => !Claim.holds(held, at)).slice(0, limit)
          for (const held of over) claims.delete(Claim.slotText(held))
          return over.length
        })
    })
  })
)
