import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Result, Schema } from "effect"
import type * as Claim from "../src/Claim.ts"
import { IdempotencyKey, parse } from "../src/IdempotencyKey.ts"
import * as Claims from "../src/internal/claims.ts"
import { fingerprintOf } from "../src/internal/contract/requests.ts"
import * as Backend from "./Backend.ts"
import { suite } from "./IdempotencyContract.ts"

suite("memory", Backend.memory)

it("accepts keys of 1 to 255 printable ASCII characters only", () => {
  for (const text of [" ", "~", "\"quoted\"", "k".repeat(255)]) {
    assert.deepStrictEqual(parse(text), IdempotencyKey.Explicit({ text }))
  }
  for (const text of ["", "k".repeat(256), "tab\t", "line\n", "del\x7f", "ümlaut", "\u{1f600}", "null\0"]) {
    assert.isUndefined(parse(text))
  }
})

const Small = Schema.Struct({
  scope: Schema.Literals(["a", "aa"]),
  key: Schema.Literals(["", "a"]),
  explicit: Schema.Boolean,
  body: Schema.Literals(["x", "y"]),
  milliseconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 }))
})

const claimOf = (small: typeof Small.Type, index: number): Claim.Claim => ({
  scope: small.scope,
  key: small.explicit
    ? IdempotencyKey.Explicit({ text: small.key })
    : IdempotencyKey.Implicit({ endpoint: small.key }),
  fingerprint: fingerprintOf(small.body),
  reference: String(index)
})

const isSame = (a: Claim.Claim, b: Claim.Claim) =>
  a.scope === b.scope && (a.key._tag === "Explicit"
    ? b.key._tag === "Explicit" && a.key.text === b.key.text
    : b.key._tag === "Implicit" && a.key.endpoint === b.key.endpoint && a.fingerprint === b.fingerprint)

it.effect.prop(
  "claims one request per key of a set, and makes those with the same body followers",
  [Schema.Array(Small).check(Schema.isMaxLength(12))],
  ([smalls]) =>
    Effect.sync(() => {
      const claims = smalls.map(claimOf)
      const outcomes = Claims.outcomesOf(claims, [])
      for (const [index, outcome] of outcomes.entries()) {
        const claim = claims[index]!
        const first = claims.findIndex((other) => isSame(other, claim))
        if (first === index) assert.strictEqual(outcome._tag, "Claimed")
        else if (claims[first]!.fingerprint !== claim.fingerprint) assert.strictEqual(outcome._tag, "Reused")
        else assert.deepStrictEqual({ ...outcome }, { _tag: "Follower", leader: first })
      }
    })
)

it.effect.prop(
  "finds a claim from its first to its last millisecond",
  [Small, Small],
  ([one, two]) =>
    Effect.sync(() => {
      const windows = { explicit: Duration.millis(100_000), implicit: Duration.millis(50_000) }
      const claim = claimOf({ ...one, milliseconds: 0 }, 0)
      const request = claimOf(two, 1)
      const inSlot = Claims.slotText(Claims.slotOf(request)) === Claims.slotText(Claims.slotOf(claim))
      assert.strictEqual(inSlot, isSame(claim, request))
      const claimed = Claims.claim(undefined, Claims.arrivingOf(claim, windows), DateTime.makeUnsafe(0))
      const held = Result.isSuccess(claimed) ? claimed.success.state! : undefined
      const isFound = inSlot && held !== undefined && Claims.holds(held, DateTime.makeUnsafe(two.milliseconds))
      const found = Claims.find(request, isFound ? held : undefined)
      const inTime = two.milliseconds < (one.explicit ? 100_000 : 50_000)
      assert.strictEqual(
        found._tag,
        !inSlot || !inTime ? "None" : one.body === two.body ? "Replay" : "Reused"
      )
    })
)
