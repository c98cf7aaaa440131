/** Tests of scopes that are forgotten. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Claim } from "../../Claim.ts"
import { Idempotency } from "../../Idempotency.ts"
import { IdempotencyKey } from "../../IdempotencyKey.ts"
import { Responses } from "../../Responses.ts"
import { fingerprintOf, requestOf } from "./requests.ts"
import type { Register } from "./tests.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

/** Registers the tests. */
export const forgetTests = (test: Register): void => {
  test("forgets all claims of a scope in sets, expired or not, and those of no other scope", () =>
    Effect.gen(function*() {
      const { claimAll, findAll, forget } = yield* Idempotency
      const gone = claimsOf("ada", 5)
      const others = ["ada ", "ad", "ada/orders", "Ada"].flatMap((scope) => claimsOf(scope, 1))
      yield* claimAll([{ ...requestOf("ada", implicit), reference: "expired" }])
      yield* TestClock.adjust("1 hour")
      yield* claimAll([...gone, ...others])
      assert.strictEqual(yield* forget({ scope: "ada", limit: 2 }), 6)
      assert.deepStrictEqual(yield* findAll(gone).pipe(tags), gone.map(() => "None"))
      assert.deepStrictEqual(yield* findAll(others).pipe(tags), others.map(() => "Replay"))
      assert.strictEqual(yield* forget({ scope: "ada" }), 0)
      assert.deepStrictEqual(yield* claimAll(gone).pipe(tags), gone.map(() => "Claimed"))
    }))

  test("forgets stored responses, and a request that runs loses its lease", () =>
    Effect.gen(function*() {
      const { forget } = yield* Idempotency
      const { begin, complete } = yield* Responses
      const asked = { scope: "grace", key: "k-1", fingerprint: fingerprintOf("a") }
      const first = yield* begin(asked)
      const second = yield* begin({ ...asked, key: "k-2" })
      if (first._tag !== "First" || second._tag !== "First") return assert.fail("The requests have not begun")
      const response = { status: 201, headers: [], body: new Uint8Array([1]) }
      yield* complete(first.running, response)
      assert.strictEqual((yield* begin(asked))._tag, "Replay")
      assert.strictEqual(yield* forget({ scope: "grace" }), 2)
      assert.strictEqual((yield* Effect.flip(complete(second.running, response)))._tag, "LeaseLost")
      assert.strictEqual((yield* begin(asked))._tag, "First")
    }))

  test("forgets nothing in a unit that rolls back", () =>
    Effect.gen(function*() {
      const { claimAll, findAll, forget } = yield* Idempotency
      const { atomically } = yield* UnitOfWork
      const claims = claimsOf("rolled back", 3)
      yield* claimAll(claims)
      const forgotten = forget({ scope: "rolled back", limit: 2 }).pipe(
        Effect.tap((count) => Effect.sync(() => assert.strictEqual(count, 3))),
        Effect.andThen(findAll(claims).pipe(tags)),
        Effect.tap((found) => Effect.sync(() => assert.deepStrictEqual(found, claims.map(() => "None")))),
        Effect.andThen(Effect.fail(new Refused()))
      )
      assert.instanceOf(yield* Effect.flip(atomically(forgotten)), Refused)
      assert.deepStrictEqual(yield* findAll(claims).pipe(tags), claims.map(() => "Replay"))
    }))

  test("rejects limits that are not from 1 to 10,000", () =>
    Effect.gen(function*() {
      const { forget } = yield* Idempotency
      for (const limit of [0, 1.5, 10_001]) {
        assert.strictEqual((yield* Effect.exit(forget({ scope: "ada", limit })))._tag, "Failure")
      }
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const implicit = IdempotencyKey.Implicit({ endpoint: "generations" })

const claimsOf = (scope: string, count: number): ReadonlyArray<Claim> =>
  Array.from({ length: count }, (_, n) => ({
    ...requestOf(scope, IdempotencyKey.Explicit({ text: `key-${n}` })),
    reference: `job-${n}`
  }))

const tags = Effect.map((all: ReadonlyArray<{ readonly _tag: string }>) => all.map(({ _tag }) => _tag))
