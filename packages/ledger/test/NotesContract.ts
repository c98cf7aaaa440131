/** Amounts of charges to quotas, and metadata, on every backend. */
import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import { creditsMax, Ledger } from "../src/Ledger.ts"
import { IndivisibleCharge, QuotaExceeded } from "../src/LedgerError.ts"
import { type Metadata, metadataBytesMax, metadataDepthMax } from "../src/Transaction.ts"
import { after, chargeOf, defectOf, grantOf, holdOf, newAccount, noon, quotaChargeOf, refusalOf } from "./commands.ts"

const midnight = after({ hours: 12 })

/** The text of the longest metadata. */
const text = "x".repeat(metadataBytesMax - JSON.stringify({ text: "" }).length)

const longest: Metadata = { text }

const nested = (levels: number): Metadata => levels === 1 ? {} : { inside: nested(levels - 1) }

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

/** Objects that share others, so that their JSON is long. */
const shared = Array.from({ length: metadataDepthMax - 2 }).reduce<unknown>((one) => Array(60).fill(one), null)

const failing = new Proxy({ secret: "of a caller" }, {
  get: () => {
    throw new Error("of a caller")
  }
})

/** Values that types do not allow, and values that are too large. */
const invalid: ReadonlyArray<readonly [name: string, value: unknown]> = [
  ["null", null],
  ["an array", []],
  ["a text", "text"],
  ["a bigint", { value: 1n }],
  ["not a number", { value: Number.NaN }],
  ["undefined", { value: undefined }],
  ["a function", { value: () => 1 }],
  ["a symbol", { value: Symbol("symbol") }],
  ["a date", { value: new Date(0) }],
  ["an instance", new Map()],
  ["an array with a hole", { value: Array(1) }],
  ["a NUL", { value: "a\0b" }],
  ["a NUL in a name", { "a\0b": 1 }],
  ["a lone surrogate", { value: "\ud800" }],
  ["a cycle", cyclic],
  ["a large array", { value: Array(metadataBytesMax).fill(0) }],
  ["shared objects", { value: shared }],
  ["one level too many", nested(metadataDepthMax + 1)],
  ["one byte too many", { text: `${text}x` }],
  ["one byte too many in a character of two", { text: `é${text.slice(1)}` }],
  ["a failing proxy", failing],
  ["a revoked proxy", { value: revoked() }]
]

/** The behaviour of `Ledger` on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Quotas by amount, and metadata (${name})`, (it) => {
    it.effect("counts the amount of a charge, all or nothing, and returns it to the day of the charge", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const count = (reference: string, amount?: number, limit = 10, at = noon) =>
          ledger.charge(quotaChargeOf(account, reference, limit, at, "minutes", amount))
        const day = "2026-11-20"
        assert.deepStrictEqual(
          yield* count("a", 7),
          { _tag: "ChargedQuota", kind: "minutes", day, amount: 7, used: 7 }
        )
        const refusal = { kind: "minutes", limit: 10, used: 7, resetsAt: midnight }
        const expected = new QuotaExceeded({ ...refusal, required: 4, available: 3 })
        assert.deepStrictEqual(yield* refusalOf(count("b", 4)), expected)
        assert.deepStrictEqual(
          yield* refusalOf(ledger.check(quotaChargeOf(account, "", 10, noon, "minutes", 4))),
          expected
        )
        assert.deepStrictEqual(
          yield* refusalOf(count("b", undefined, 5)),
          new QuotaExceeded({ ...refusal, limit: 5, required: 1, available: 0 })
        )
        yield* count("b", 3)
        yield* count("tomorrow", 10, 10, midnight)
        const part = { reference: "part", credits: 1 }
        assert.deepStrictEqual(
          yield* refusalOf(ledger.refund({ account, reference: "a", part, at: noon })),
          new IndivisibleCharge({ reference: "a" })
        )
        // On the next day, and twice.
        yield* ledger.refund({ account, reference: "a", at: midnight })
        yield* ledger.refund({ account, reference: "a", at: midnight })
        const usedAt = (at: typeof noon) => Effect.map(ledger.balances(account, at), ({ quotaUsed }) => [...quotaUsed])
        assert.deepStrictEqual(yield* usedAt(noon), [["minutes", 3]])
        assert.deepStrictEqual(yield* usedAt(midnight), [["minutes", 10]])
        yield* count("c", creditsMax - 3, creditsMax)
        assert.deepStrictEqual(yield* usedAt(noon), [["minutes", creditsMax]])
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
        const [charge] = yield* ledger.entries({ account, reference: "b" })
        assert.deepStrictEqual(charge!.entries, [{ from: "allowance", to: `quota:minutes:${day}`, amount: 3 }])
      }))

    it.effect("dies if the amount of a charge to a quota is invalid", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        for (const amount of [0, -1, 0.5, Number.NaN, creditsMax + 1]) {
          const charge = quotaChargeOf(account, "job", 10, noon, "minutes", amount)
          assert.match(yield* defectOf(ledger.charge(charge)), /amount of a charge to a quota/)
          assert.match(yield* defectOf(ledger.check(charge)), /amount of a charge to a quota/)
        }
        assert.deepStrictEqual(yield* ledger.entries({ account }), [])
      }))

    it.effect("returns the metadata of each command, and ignores that of a repeated one", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const metadata = (of: string): Metadata => ({
          of,
          ["__proto__"]: { toString: "name" },
          "naïve 🎈": { list: [1, -0.5, 1e21, "x", true, null, {}], ["__proto__"]: [] }
        })
        const repeated = <A, E, R>(call: (metadata: Metadata) => Effect.Effect<A, E, R>, of: string) =>
          Effect.andThen(call(metadata(of)), Effect.exit(call({ of: "a repetition" })))
        const job = { account, reference: "job", at: noon }
        yield* repeated((metadata) => ledger.grant(grantOf(account, 10, { metadata })), "grant")
        yield* repeated((metadata) => ledger.charge({ ...chargeOf(account, "job", 4), metadata }), "charge")
        const part = { reference: "part", credits: 1 }
        yield* repeated((metadata) => ledger.refund({ ...job, part, metadata }), "part")
        yield* repeated((metadata) => ledger.refund({ ...job, metadata }), "refund")
        yield* repeated((metadata) => ledger.hold({ ...holdOf(account, "held", 4), metadata }), "hold")
        yield* repeated((metadata) => ledger.capture({ ...job, reference: "held", metadata }), "capture")
        yield* repeated((metadata) => ledger.charge({ ...quotaChargeOf(account, "still", 1), metadata }), "still")
        yield* ledger.charge(chargeOf(account, "plain", 0))
        yield* ledger.charge({ ...chargeOf(account, "longest", 0), metadata: longest })
        yield* ledger.charge({ ...chargeOf(account, "nested", 0), metadata: nested(metadataDepthMax) })
        const entries = yield* ledger.entries({ account })
        assert.deepStrictEqual(entries.map(({ kind, metadata }) => ({ kind, metadata })).toReversed(), [
          { kind: "grant", metadata: metadata("grant") },
          { kind: "charge", metadata: metadata("charge") },
          { kind: "refund", metadata: metadata("part") },
          { kind: "refund", metadata: metadata("refund") },
          { kind: "hold", metadata: metadata("hold") },
          { kind: "release", metadata: undefined },
          { kind: "charge", metadata: metadata("capture") },
          { kind: "charge", metadata: metadata("still") },
          { kind: "charge", metadata: undefined },
          { kind: "charge", metadata: longest },
          { kind: "charge", metadata: nested(metadataDepthMax) }
        ])
      }))

    it.effect("dies if metadata is invalid, without repeating it, and changes nothing", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 10))
        yield* ledger.hold(holdOf(account, "held", 1))
        const before = [yield* ledger.entries({ account }), yield* ledger.balances(account, noon)]
        for (const [what, value] of invalid) {
          const metadata = value as Metadata // as JavaScript passes it
          const message = yield* defectOf(ledger.charge({ ...chargeOf(account, "job", 1), metadata }))
          assert.match(message, /Metadata must be a plain object of JSON/, what)
          assert.notInclude(message, "of a caller")
        }
        const metadata = { value: "\0" }
        const job = { account, reference: "held", at: noon, metadata }
        yield* defectOf(ledger.grant(grantOf(account, 1, { reference: "other", metadata })))
        yield* defectOf(ledger.hold({ ...holdOf(account, "other", 1), metadata }))
        yield* defectOf(ledger.capture(job))
        assert.deepStrictEqual([yield* ledger.entries({ account }), yield* ledger.balances(account, noon)], before)
      }))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
