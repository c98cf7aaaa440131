/** Stores claims in the memory of this process. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect, Layer, Result } from "effect"
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

    /** Runs `body` with the current time. */
    const accessNow = <A>(body: (now: DateTime.Utc) => A) =>
      Effect.flatMap(DatabaseTime.inMemory, (now) => access(() => body(now)))

    return IdempotencyStore.of({
      find: (wanted) =>
        accessNow((now) =>
          wanted.flatMap((slot) => slots.get(Claims.slotText(slot)) ?? []).filter((held) => Claims.holds(held, now))
        ),
      claim: (arriving) => accessNow((now) => decideEach(arriving, (slot, next) => Claims.claim(slot, next, now))),
      release: (held) => Effect.asVoid(access(() => decideEach(held, Claims.release))),
      extend: (arriving) =>
        Effect.asVoid(accessNow((now) => decideEach(arriving, (slot, next) => Claims.extend(slot, next, now)))),
      renew: (arriving) =>
        Effect.asVoid(accessNow((now) => decideEach(arriving, (slot, next) => Claims.renew(slot, next, now)))),
      complete: (completion) =>
        accessNow((now) => decideEach([completion], (slot, next) => Claims.complete(slot, next, now)).length === 0),
      forget: (scope, limit) =>
        access(() => {
          const forgotten = Array.from(slots.values()).filter((held) => held.scope === scope).slice(0, limit)
          for (const held of forgotten) slots.delete(Claims.slotText(held))
          return forgotten.length
        }),
      sweep: (limit) =>
        accessNow((now) => {
          const expired = Array.from(slots.values()).filter((held) => !Claims.holds(held, now)).slice(0, limit)
          for (const held of expired) slots.delete(Claims.slotText(held))
          return expired.length
        })
    })
  })
)
