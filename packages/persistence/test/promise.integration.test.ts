/** The connections of promise APIs that open a pool themselves. */
import { assert, it, vi } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Pool } from "pg"
import { type Layers, make, StorageFailedError } from "../src/promise.ts"
import { mapSql, StorageError } from "../src/StorageError.ts"
import * as UnitOfWork from "../src/UnitOfWork.ts"

/** A service whose layer queries the database, and then succeeds or fails. */
const layersOf = (outcome: Effect.Effect<void, StorageError>): Layers<never> => {
  const query = SqlClient.SqlClient.use((sql) => mapSql("test")(sql`SELECT 1`))
  const start = Layer.effectDiscard(Effect.andThen(query, outcome))
  return { memory: UnitOfWork.layerMemory, postgres: Layer.provideMerge(start, UnitOfWork.layerSql) }
}

it("ends its connections once, whether a service closes several times or cannot be built", async () => {
  const program = await PgProgram.open()
  const end = vi.spyOn(Pool.prototype, "end")
  const service = await make(layersOf(Effect.void), { url: program.url })
  await Promise.all([service.close(), service.close()])
  await service.close()
  assert.strictEqual(end.mock.calls.length, 1)
  const failure = new StorageError({ operation: "test", reason: "failed", cause: undefined })
  const failed = make(layersOf(Effect.fail(failure)), { url: program.url })
  const error = await failed.catch((error: unknown) => error)
  assert.instanceOf(error, StorageFailedError)
  assert.deepInclude(error, { code: "storage_failed", isRetryable: false })
  assert.strictEqual(end.mock.calls.length, 2)
  const url = new URL(program.url)
  url.pathname = "/absent"
  const absent = await make(layersOf(Effect.void), { url: url.href }).catch((error: unknown) => error)
  assert.instanceOf(absent, StorageFailedError)
  assert.strictEqual(end.mock.calls.length, 3)
  end.mockRestore()
  await program.close()
})
