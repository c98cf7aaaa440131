import { assert, layer } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Context, Effect, Layer } from "effect"
import * as SqlStore from "../src/SqlStore.ts"
import type { StorageError } from "../src/StorageError.ts"

class RatioStore extends Context.Service<RatioStore, {
  readonly read: (divisor: number) => Effect.Effect<ReadonlyArray<unknown>, StorageError>
}>()("@kinora/test/RatioStore") {}

const store = SqlStore.layer(RatioStore, { read: (sql, divisor) => sql`SELECT 1 / ${divisor}::int4 AS ratio` })

layer(Layer.provide(store, TestDatabase.pglite))("SqlStore", (it) => {
  it.effect("names the method of the store whose statement fails", () =>
    Effect.gen(function*() {
      const { read } = yield* RatioStore
      assert.deepStrictEqual(yield* read(1), [{ ratio: 1 }])
      const error = yield* Effect.flip(read(0))
      assert.strictEqual(error.operation, "RatioStore.read")
    }))
})
