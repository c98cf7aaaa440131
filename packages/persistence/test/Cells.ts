/** Cells in memory and in Postgres, for the tests of units. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Cells } from "../src/internal/contract/cells.ts"
import * as StorageError from "../src/StorageError.ts"
import { MemoryBackend } from "../src/UnitOfWork.ts"

export { Cells } from "../src/internal/contract/cells.ts"

export const layerMemory = Layer.effect(
  Cells,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const cells = memory.makeMap<string, number>()
    const get = (key: string) => memory.access(() => cells.get(key))
    return Cells.of({ put: (key, value) => memory.access(() => cells.set(key, value)), get, lock: get })
  })
)

export const layerSql = Layer.effect(
  Cells,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE cells (key text PRIMARY KEY, value int NOT NULL)`
    const read = (key: string, suffix: string) =>
      sql<{ readonly value: number }>`SELECT value FROM cells WHERE key = ${key} ${sql.literal(suffix)}`.pipe(
        Effect.map((rows) => rows[0]?.value),
        StorageError.mapSql("Cells.get")
      )
    return Cells.of({
      put: (key, value) =>
        sql`
          INSERT INTO cells (key, value) VALUES (${key}, ${value})
          ON CONFLICT (key) DO UPDATE SET value = excluded.value
        `.pipe(Effect.asVoid, StorageError.mapSql("Cells.put")),
      get: (key) => read(key, ""),
      lock: (key) => read(key, "FOR UPDATE")
    })
  })
)
