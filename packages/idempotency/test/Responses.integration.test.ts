import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { responseSlotOf } from "../src/internal/claims.ts"
import { fingerprintOf } from "../src/internal/contract/requests.ts"
import { layerWith, Responses } from "../src/Responses.ts"
import * as Backend from "./Backend.ts"
import { suite } from "./ResponsesContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, Backend.over(database))

const overPostgres = layerWith({}).pipe(
  Layer.provideMerge(Layer.merge(Backend.over(TestDatabase.postgres), SecureRandom.layerWebCrypto))
)

it.effect("renews leases without waiting for a transaction that stores a response", () =>
  Effect.gen(function*() {
    const { begin, complete } = yield* Responses
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const { renew } = yield* IdempotencyStore
    const sql = yield* SqlClient.SqlClient
    const requests = ["k-1", "k-2"].map((key) => ({ scope: "locked", key, fingerprint: fingerprintOf("a") }))
    const begun = yield* Effect.forEach(requests, (request) => begin(request))
    const running = begun.flatMap((begun) => begun._tag === "First" ? [begun.running] : [])
    assert.strictEqual(running.length, 2)
    const stored = yield* Deferred.make<void>()
    const mayEnd = yield* Deferred.make<void>()
    const unit = yield* complete(running[0]!, { status: 200, headers: [], body: undefined }).pipe(
      Effect.andThen(Deferred.succeed(stored, undefined)),
      Effect.andThen(Deferred.await(mayEnd)),
      atomically,
      Effect.forkChild
    )
    yield* Deferred.await(stored)
    const arriving = running.map((running) => ({
      ...responseSlotOf(running),
      fingerprint: running.fingerprint,
      reference: running.token,
      window: Duration.hours(1)
    }))
    yield* atomically(Effect.andThen(sql`SET LOCAL lock_timeout = '20ms'`, renew(arriving)))
    const held = sql<{ readonly identity: string }>`
      SELECT identity FROM idempotency_claim WHERE expires_at - claimed_at = interval '1 hour'
    `
    assert.deepStrictEqual((yield* held).map(({ identity }) => identity), ["res:k-2"])
    yield* Deferred.succeed(mayEnd, undefined)
    yield* Fiber.join(unit)
  }).pipe(Effect.provide(overPostgres)))
