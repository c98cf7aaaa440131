import { assert, it } from "@effect/vitest"
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { requestOf } from "../src/internal/contract/requests.ts"
import { suite as contract } from "../src/testing.ts"
import * as Backend from "./Backend.ts"
import { suite } from "./IdempotencyContract.ts"

for (const [name, database] of TestDatabase.all) {
  contract(name, Backend.over(database))
  suite(name, Backend.over(database))
}

contract("Postgres, pipelined", Backend.over(TestDatabase.postgresWith(Pipelining.over)))

const overPostgres = layerIdempotency.pipe(Layer.provideMerge(Backend.over(TestDatabase.postgres)))

it.effect("fails with InProgress after the lock timeout of the database", () =>
  Effect.gen(function*() {
    const { claimAll } = yield* Idempotency
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const sql = yield* SqlClient.SqlClient
    const request = requestOf("slow")
    const claimed = yield* Deferred.make<void>()
    const mayEnd = yield* Deferred.make<void>()
    const first = yield* claimAll([{ ...request, reference: "first" }]).pipe(
      Effect.andThen(Deferred.succeed(claimed, undefined)),
      Effect.andThen(Deferred.await(mayEnd)),
      atomically,
      Effect.forkChild
    )
    yield* Deferred.await(claimed)
    const error = yield* sql`SET LOCAL lock_timeout = '20ms'`.pipe(
      Effect.andThen(claimAll([{ ...request, reference: "second" }])),
      atomically,
      Effect.flip
    )
    assert.isTrue(error._tag === "IdempotencyError" && error.reason._tag === "InProgress")
    yield* Deferred.succeed(mayEnd, undefined)
    yield* Fiber.join(first)
  }).pipe(Effect.provide(overPostgres)))

it.effect("claims the same keys in any order without a deadlock", () =>
  Effect.gen(function*() {
    const { claimAll } = yield* Idempotency
    const requests = Array.from({ length: 20 }, (_, index) => requestOf(`crosswise ${index}`))
    const claims = (unit: number) => requests.map((request) => ({ ...request, reference: String(unit) }))
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, unit) => unit % 2 === 0 ? claims(unit) : claims(unit).toReversed()),
      (claims) => claimAll(claims),
      { concurrency: "unbounded" }
    )
    const claimed = outcomes.map((outcomes) => outcomes.filter((outcome) => outcome._tag === "Claimed").length)
    assert.deepStrictEqual(claimed.filter((count) => count > 0), [20])
  }).pipe(
    // A unit that deadlocks would run again, so reruns are disabled.
    Effect.provide(
      layerIdempotency.pipe(
        Layer.provideMerge(Backend.overWith(TestDatabase.postgres, UnitOfWork.layerSqlWith({ reruns: 0 })))
      )
    )
  ))
