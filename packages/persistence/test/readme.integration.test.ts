import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { example } from "../example/orders.ts"
import { layerSql } from "../example/sql.ts"

for (const [name, database] of TestDatabase.all) {
  describe(`The README's example (${name})`, () => {
    it.effect("does the same in a database", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* example, { outcomes: ["no address", "ordered", "sold out"], orders: 1 })
      }).pipe(Effect.provide(layerSql(database))))
  })
}
