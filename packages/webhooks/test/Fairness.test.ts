import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { EndpointId } from "../src/Endpoint.ts"
import { type Limits, type Load, share } from "../src/internal/sending/Fairness.ts"

const limits: Limits = { sendsMax: 16, accountSendsMax: 8, endpointSendsMax: 4, suspectSendsMax: 8 }

let made = 0
const load = (options: Partial<Load> = {}): Load => ({
  endpoint: `whep_${++made}` as EndpointId,
  account: `account-${made}`,
  standing: "good",
  sends: 0,
  isDue: true,
  ...options
})

/** What each endpoint of the list is granted. */
const grants = (limits: Limits, loads: ReadonlyArray<Load>, max = 128): ReadonlyArray<number> => {
  const shared = new Map(share(limits, loads, max).map(({ endpoint, limit }) => [endpoint, limit]))
  return loads.map(({ endpoint }) => shared.get(endpoint) ?? 0)
}

it("gives one endpoint as many sends as it may have, and no more", () => {
  assert.deepStrictEqual(grants(limits, [load()]), [4])
  assert.deepStrictEqual(grants(limits, [load({ sends: 3 })]), [1])
  assert.deepStrictEqual(grants(limits, [load({ sends: 4 })]), [0])
})

it("gives nothing to an endpoint that has nothing due", () => {
  assert.deepStrictEqual(grants(limits, [load({ isDue: false, sends: 1 }), load()]), [0, 4])
})

it("shares scarce room evenly between accounts, counting what they have under way", () => {
  const few = { ...limits, sendsMax: 6 }
  assert.deepStrictEqual(grants(few, [load(), load(), load()]), [2, 2, 2])
  assert.deepStrictEqual(grants(few, [load({ sends: 3 }), load(), load()]), [0, 2, 1])
})

it("gives an account with many endpoints no more than one with a single endpoint", () => {
  const crowd = Array.from({ length: 5 }, () => load({ account: "crowd" }))
  assert.deepStrictEqual(grants({ ...limits, sendsMax: 4 }, [...crowd, load()]), [1, 1, 0, 0, 0, 2])
})

it("gives an account no more than its cap", () => {
  const all = Array.from({ length: 5 }, () => load({ account: "one" }))
  assert.strictEqual(grants(limits, all).reduce((a, b) => a + b), 8)
})

it("tries an endpoint of which nothing is known with one send", () => {
  assert.deepStrictEqual(grants(limits, [load({ standing: "unknown" }), load({ standing: "unknown", sends: 1 })]), [
    1,
    0
  ])
})

it("keeps half of the room free of suspects (D46)", () => {
  const suspects = Array.from({ length: 10 }, () => load({ standing: "suspect" }))
  assert.strictEqual(grants(limits, suspects).reduce((a, b) => a + b), 8)
  assert.deepStrictEqual(grants(limits, [...suspects.map((one) => ({ ...one, sends: 1 })), load()]).at(-1), 4)
})

it("keeps half of an account's room free of its suspects, so that its own dead endpoints do not stop its others (D46)", () => {
  const dead = Array.from({ length: 4 }, () => load({ account: "one", standing: "suspect" }))
  const given = grants(limits, [...dead, load({ account: "one" })])
  assert.strictEqual(given.slice(0, 4).reduce((a, b) => a + b), 4)
  assert.strictEqual(given[4], 4)
})

it("lets suspects have some room however little there is", () => {
  const tiny = { sendsMax: 1, accountSendsMax: 1, endpointSendsMax: 1, suspectSendsMax: 1 }
  assert.deepStrictEqual(grants(tiny, [load({ standing: "suspect" })]), [1])
})

it("gives what comes first in the list the first turn among equals", () => {
  assert.deepStrictEqual(grants(limits, [load(), load(), load()], 2), [1, 1, 0])
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))
const AnyLoad = Schema.Struct({
  account: Schema.Literals(["a", "b", "c", "d"]),
  standing: Schema.Literals(["unknown", "good", "suspect"]),
  sends: Count,
  isDue: Schema.Boolean
})
const Loads = Schema.Array(AnyLoad)
const AnyLimits = Schema.Struct({
  sendsMax: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })),
  accountSendsMax: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })),
  endpointSendsMax: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
  suspectSendsMax: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))
})

it.effect.prop(
  "never passes a limit, never leaves room that somebody could use, and levels accounts",
  [AnyLimits, Loads, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))],
  ([limits, anyLoads, max]) =>
    Effect.sync(() => {
      const before = anyLoads.map((one) => load(one))
      const given = grants(limits, before, max)
      const after = before.map((one, index) => ({ ...one, sends: one.sends + given[index]! }))
      const sum = (loads: ReadonlyArray<Load>) => loads.reduce((total, { sends }) => total + sends, 0)
      const suspects = (loads: ReadonlyArray<Load>) => loads.filter(({ standing }) => standing === "suspect")
      const of = (account: string) => (one: Load) => one.account === account
      const accountSuspectsMax = Math.max(
        1,
        Math.floor(limits.accountSendsMax * limits.suspectSendsMax / limits.sendsMax)
      )
      const granted = given.reduce((a, b) => a + b, 0)

      /** Whether the endpoint could have one more, by every limit. */
      const fits = (one: Load, loads: ReadonlyArray<Load>) =>
        one.isDue && one.sends < (one.standing === "unknown" ? 1 : limits.endpointSendsMax) &&
        sum(loads) < limits.sendsMax && sum(loads.filter(of(one.account))) < limits.accountSendsMax &&
        (one.standing !== "suspect" ||
          (sum(suspects(loads)) < limits.suspectSendsMax &&
            sum(suspects(loads.filter(of(one.account)))) < accountSuspectsMax))

      assert.isAtMost(granted, max)
      after.forEach((one, index) => {
        if (given[index] === 0) return
        // Without its last send it must have fitted.
        const without = after.map((other) => other === one ? { ...one, sends: one.sends - 1 } : other)
        assert.isTrue(fits(without[index]!, without))
      })
      if (granted < max) assert.isFalse(after.some((one) => fits(one, after)))
      // Whoever was granted something has at most one more than anybody who could have had it.
      for (
        const poor of after.filter((one) =>
          fits({ ...one, sends: one.sends }, after.map((other) => ({ ...other, sends: 0 })))
        )
      ) {
        for (const rich of after) {
          const wasGranted = after.some((one, index) => one.account === rich.account && given[index]! > 0)
          const couldHave = fits(poor, after.map((one) => one === rich ? { ...one, sends: one.sends - 1 } : one))
          if (rich.account === poor.account || !wasGranted || rich.sends === 0 || !couldHave) continue
          if (given[after.indexOf(rich)] === 0) continue
          assert.isAtMost(sum(after.filter(of(rich.account))), sum(after.filter(of(poor.account))) + 1)
        }
      }
    })
)

it("leaves nobody out for ever when those who had a turn go to the end of the list", () => {
  let loads: ReadonlyArray<Load> = Array.from({ length: 7 }, () => load())
  const turns = new Map<EndpointId, number>()
  for (let round = 0; round < 70; round++) {
    const [grant] = share({ ...limits, sendsMax: 1 }, loads, 1)
    turns.set(grant!.endpoint, (turns.get(grant!.endpoint) ?? 0) + 1)
    const served = loads.find(({ endpoint }) => endpoint === grant!.endpoint)!
    loads = [...loads.filter((one) => one !== served), served]
  }
  assert.deepStrictEqual(Array.from(turns.values()), Array.from({ length: 7 }, () => 10))
})
