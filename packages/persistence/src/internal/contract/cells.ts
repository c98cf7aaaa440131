/** A minimal store, for the tests of units. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../../StorageError.ts"

/** Numbers by keys, in the storage whose units of work are tested. A call inside of a unit belongs to the unit. */
export class Cells extends Context.Service<Cells, {
  /** Inserts or replaces a number. */
  readonly put: (key: string, value: number) => Effect.Effect<void, StorageError>

  /** Returns the number as the last unit that has committed left it, or as the unit of the call has written it. */
  readonly get: (key: string) => Effect.Effect<number | undefined, StorageError>

  /** Returns the number, and locks it until the unit ends, if units run at the same time. Another unit waits for the lock. */
  readonly lock: (key: string) => Effect.Effect<number | undefined, StorageError>
}>()("@kinora/persistence/testing/Cells") {}
