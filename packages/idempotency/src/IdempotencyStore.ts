/** The port to the storage of claims. Rules are decided by `internal/claims.ts`; times are parameters. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { IdempotencyError } from "./IdempotencyError.ts"
import type { Arriving, Held, Slot } from "./internal/claims.ts"

/** Stores claims. Every set has distinct slots, sorted by `slotText`, so that units of work do not deadlock. */
export class IdempotencyStore extends Context.Service<IdempotencyStore, {
  /** Returns the claims in these slots, expired or not. */
  readonly find: (slots: ReadonlyArray<Slot>) => Effect.Effect<ReadonlyArray<Held>, StorageError>

  /**
   * Claims the slots that are free or expired, and returns the claims that hold the other
   * slots. These cannot change until the unit ends. Waits for units that are claiming the
   * same slots, and fails with `InProgress` after the `lock_timeout` of the database.
   */
  readonly claim: (
    arriving: ReadonlyArray<Arriving>
  ) => Effect.Effect<ReadonlyArray<Held>, IdempotencyError | StorageError>

  /** Frees the slots that are held for the given references. */
  readonly release: (held: ReadonlyArray<Held>) => Effect.Effect<void, StorageError>

  /** Moves the end of each claim to a later time if its slot is free, expired, or held for the same reference. */
  readonly extend: (arriving: ReadonlyArray<Arriving>) => Effect.Effect<void, StorageError>

  /** Deletes up to `limit` expired claims, and returns their number. */
  readonly sweep: (at: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/idempotency/IdempotencyStore") {}
