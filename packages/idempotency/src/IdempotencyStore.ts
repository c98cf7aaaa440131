/** Where claims are kept. Stores load and write; the rules are in `Claim`. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type * as Claim from "./Claim.ts"
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
