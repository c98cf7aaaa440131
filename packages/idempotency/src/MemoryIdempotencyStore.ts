/** Stores claims in the memory of this process. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer, Result } from "effect"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import * as Claims from "./internal/claims.ts"

/** Provides a store in memory. A claim never waits, since units of work in memory run one at a time. */
export const layer: Layer.Layer<IdempotencyStore, never, MemoryBackend> = Layer.effect(
  IdempotencyStore,
  Effect.map(MemoryBackend, ({ access, makeMap }) => {
    const slots = makeMap<string, Claims.Held>()

    /** Decides each command, adopts the accepted slots, and returns the refusals. */
    const decideEach = <Command extends Claims.Slot, Refusal>(
      commands: ReadonlyArray<Command>,
      decide: (
        slot: Claims.SlotState,
        command: Command
      ) => Result.Result<{ readonly state: Claims.SlotState }, Refusal>
    ): ReadonlyArray<Refusal> =>
      commands.flatMap((command) => {
        const key = Claims.slotText(command)
        const decided = decide(slots.get(key), command)
        if (Result.isFailure(decided)) return [decided.failure]
        if (decided.success.state === undefined) slots.delete(key)
        else slots.set(key, decided.success.state)
        return []
      })

    return IdempotencyStore.of({
      find: (wanted) => access(() => wanted.flatMap((slot) => slots.get(Claims.slotText(slot)) ?? [])),
      claim: (arriving) => access(() => decideEach(arriving, Claims.claim)),
      release: (held) => Effect.asVoid(access(() => decideEach(held, Claims.release))),
      extend: (arriving) => Effect.asVoid(access(() => decideEach(arriving, Claims.extend))),
      sweep: (at, limit) =>
        access(() => {
          const expired = Array.from(slots.values()).filter((held) => !Claims.holds(held, at)).slice(0, limit)
          for (const held of expired) slots.delete(Claims.slotText(held))
          return expired.length
        })
    })
  })
)
