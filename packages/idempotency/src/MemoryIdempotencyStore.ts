/** The store in memory, for tests and for hosts that keep nothing. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import * as Claim from "./Claim.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"

/** Keeps claims in the memory of the process, inside its units of work. Never waits for another unit's claim. */
export const layer: Layer.Layer<IdempotencyStore, never, MemoryBackend> = Layer.effect(
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
