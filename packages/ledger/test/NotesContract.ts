/** Invalid amounts of charges to quotas, and invalid metadata, on every backend. */
import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import { creditsMax } from "../src/internal/check.ts"
import {
  chargeOf,
  defectOf,
  grantOf,
  holdOf,
  newAccount,
  noon,
  quotaChargeOf
} from "../src/internal/contract/commands.ts"
import { bytesMax, depthMax, type Metadata } from "../src/internal/metadata.ts"
import { Ledger } from "../src/Ledger.ts"

/** The text of the longest metadata. */
const text = "x".repeat(bytesMax - JSON.stringify({ text: "" }).length)

const nested = (levels: number): Metadata => levels === 1 ? {} : { inside: nested(levels - 1) }

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

/** Objects that share others, so that their JSON is long. */
const shared = Array.from({ length: depthMax - 2 }).reduce<unknown>((one) => Array(60).fill(one), null)

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
  ["a large array", { value: Array(bytesMax).fill(0) }],
  ["shared objects", { value: shared }],
  ["one level too many", nested(depthMax + 1)],
  ["one byte too many", { text: `${text}x` }],
  ["one byte too many in a character of two", { text: `é${text.slice(1)}` }],
  ["a failing proxy", failing],
  ["a revoked proxy", { value: revoked() }]
]

/** The behaviour of `Ledger` on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Quotas by amount, and metadata (${name})`, (it) => {
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
