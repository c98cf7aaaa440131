/** Units of work of a storage that has no transactions. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"

/** Provides units whose parts take effect at once, also if the unit fails. */
export const layer: Layer.Layer<UnitOfWork> = Layer.succeed(UnitOfWork, {
  // No part of such a unit is a statement of SQL.
  atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect as Effect.Effect<A, Exclude<E, SqlError.SqlError> | StorageError, R>,
  afterCommit: (effect) => effect,
  isOpen: Effect.succeed(false)
})
