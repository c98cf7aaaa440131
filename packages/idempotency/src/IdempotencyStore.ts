/** The port to the storage of claims. Rules are decided by `internal/claims.ts`; the time is the storage's (`DatabaseTime`). */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type Effect } from "effect"
import type { IdempotencyError } from "./IdempotencyError.ts"
import type { Arriving, Completion, Held, Holder, Slot } from "./internal/claims.ts"

/**
 * Stores claims. Every set has distinct slots, sorted by `slotText`, so that units of work do not deadlock. Scopes and
 * identities are compared exactly: case, accents and spaces count.
 */
export class IdempotencyStore extends Context.Service<IdempotencyStore, {
  /** Returns the claims that hold in these slots. */
  readonly find: (slots: ReadonlyArray<Slot>) => Effect.Effect<ReadonlyArray<Held>, StorageError>

  /**
   * Claims the slots that are free or expired, and returns the claims that hold the other
   * slots. These cannot change until the unit ends. Waits for units that are claiming the
   * same slots, and fails with `InProgress` after the `lock_timeout` of the database.
   */
  readonly claim: (
    arriving: ReadonlyArray<Arriving>
  ) => Effect.Effect<ReadonlyArray<Held>, IdempotencyError | StorageError>

  /** Frees the slots that are held for the given references and have no response. */
  readonly release: (held: ReadonlyArray<Holder>) => Effect.Effect<void, StorageError>

  /** Restarts the window of each claim if its slot is free, expired, or held for the same reference. Never shortens one. */
  readonly extend: (arriving: ReadonlyArray<Arriving>) => Effect.Effect<void, StorageError>

  /**
   * Restarts the window of each claim that is held for the same reference and has no response. Skips slots that another
   * unit has locked.
   */
  readonly renew: (arriving: ReadonlyArray<Arriving>) => Effect.Effect<void, StorageError>

  /** Stores the response of a claim that is held for its reference and has none. Returns whether there was one. */
  readonly complete: (completion: Completion) => Effect.Effect<boolean, StorageError>

  /**
   * Deletes up to `limit` claims of exactly this scope, expired or not, with their responses. Returns their number, which is
   * less than `limit` only if no other is left. Waits for units that have locked one of them.
   */
  readonly forget: (scope: string, limit: number) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` expired claims, and returns their number. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/idempotency/IdempotencyStore") {}
