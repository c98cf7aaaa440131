/** Tests of keys and scopes that differ little. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Found, type Request } from "../../Claim.ts"
import { Idempotency } from "../../Idempotency.ts"
import { IdempotencyKey } from "../../IdempotencyKey.ts"
import { requestOf } from "./requests.ts"
import type { Register } from "./tests.ts"

/** Registers the tests. */
export const slotTests = (test: Register): void => {
  test("does not match requests with keys that differ in case, spaces, or at the end only", () =>
    expectApart(
      [...texts, "k".repeat(255), "k".repeat(254)].map((text) => requestOf("slots", IdempotencyKey.Explicit({ text })))
    ))

  test("does not match requests with scopes that differ in case, accents, spaces, or at the end only", () =>
    expectApart([...texts, "zoë", "zoe\u0308", "k".repeat(128), "k".repeat(127)].map((scope) => requestOf(scope))))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Some databases compare texts by a collation, or store the beginning of a long one. */
const texts = ["zoe", "Zoe", "zoe ", " zoe"]

/** Claims each request for a reference of its own, in separate calls, and finds it. */
const expectApart = Effect.fnUntraced(function*(requests: ReadonlyArray<Request>) {
  const { claimAll, find } = yield* Idempotency
  for (const [index, request] of requests.entries()) yield* claimAll([{ ...request, reference: `job-${index}` }])
  assert.deepStrictEqual(
    yield* Effect.forEach(requests, find),
    requests.map((_, index) => Found.Replay({ reference: `job-${index}` }))
  )
})
