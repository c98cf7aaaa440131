import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"
import * as Claim from "../src/Claim.ts"
import { IdempotencyKey, parse } from "../src/IdempotencyKey.ts"
import * as Backend from "./Backend.ts"
import { suite } from "./IdempotencyContract.ts"
import { fingerprintOf } from "./requests.ts"

suite("memory", Backend.memory)

it("takes 1 to 255 printable ASCII characters for a key, and nothing else (D14)", () => {
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
  at: DateTime.makeUnsafe(small.milliseconds),
  reference: String(index)
})

const isSame = (a: Claim.Claim, b: Claim.Claim) =>
  a.scope === b.scope && (a.key._tag === "Explicit"
    ? b.key._tag === "Explicit" && a.key.text === b.key.text
    : b.key._tag === "Implicit" && a.key.endpoint === b.key.endpoint && a.fingerprint === b.fingerprint)

it.effect.prop(
  "has one claimer per key in a set, and everybody else with the same body follows it",
  [Schema.Array(Small).check(Schema.isMaxLength(12))],
  ([smalls]) =>
    Effect.sync(() => {
      const claims = smalls.map(claimOf)
      const outcomes = Claim.outcomesOf(claims, [])
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
      const inSlot = Claim.slotText(Claim.slotOf(request)) === Claim.slotText(Claim.slotOf(claim))
      assert.strictEqual(inSlot, isSame(claim, request))
      const found = Claim.find(request, inSlot ? Claim.holdOf(claim, windows) : undefined)
      const inTime = two.milliseconds < (one.explicit ? 100_000 : 50_000)
      assert.strictEqual(
        found._tag,
        !inSlot || !inTime ? "None" : one.body === two.body ? "Replay" : "Reused"
      )
    })
)
