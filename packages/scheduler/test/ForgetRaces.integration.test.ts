/** Groups that are forgotten while others create them. */
import { assert, layer } from "@effect/vitest"
import type { StorageError } from "@kinora/persistence/StorageError"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

const turns = 30

layer(over(TestDatabase.postgres))("A group that is forgotten again and again", (it) => {
  it.effect("can be created at the same time, without a deadlock", () =>
    Effect.gen(function*() {
      const { forget, setCap, verify } = yield* Scheduler
      const { group, lane } = yield* makeWorld
      const callers = Array.from({ length: 12 }, (_, n) =>
        Effect.asVoid<unknown, StorageError, never>(
          n % 2 === 0 ? forget({ group }) : setCap({ lane: `${lane}-${n % 4}`, group, cap: 1 })
        ))
      yield* Effect.forEach(callers, (call) => Effect.repeat(call, { times: turns }), {
        concurrency: "unbounded",
        discard: true
      })
      assert.deepStrictEqual(yield* verify, [])
    }))
})
