import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { EndpointId } from "../src/Endpoint.ts"
import { allowanceOf, type Limits, type Load, share } from "../src/internal/worker/Fairness.ts"
import * as Standings from "../src/internal/worker/Standings.ts"

const limits: Limits = { sendsMax: 16, accountSendsMax: 8, endpointSendsMax: 4, suspectSendsMax: 8, reservedSends: 0 }

/** Standing of an endpoint with the largest allowance. */
const good = 30
const { unknown } = Standings

let made = 0
const load = (options: Partial<Load> = {}): Load => ({
  endpoint: `whep_${++made}` as EndpointId,
  account: `account-${made}`,
  standing: good,
  sends: 0,
  isDue: true,
  ...options
})

/** The number of sends granted to each endpoint of the list. */
const grants = (limits: Limits, loads: ReadonlyArray<Load>, max = 128): ReadonlyArray<number> => {
  const shared = new Map(share(limits, loads, max).map(({ endpoint, limit }) => [endpoint, limit]))
  return loads.map(({ endpoint }) => shared.get(endpoint) ?? 0)
}

it("grants one endpoint exactly its allowance", () => {
  assert.deepStrictEqual(grants(limits, [load()]), [4])
  assert.deepStrictEqual(grants(limits, [load({ sends: 3 })]), [1])
  assert.deepStrictEqual(grants(limits, [load({ sends: 4 })]), [0])
})

it("grants nothing to an endpoint without due deliveries", () => {
  assert.deepStrictEqual(grants(limits, [load({ isDue: false, sends: 1 }), load()]), [0, 4])
})

it("shares scarce room evenly between accounts, counting their sends in flight", () => {
  const few = { ...limits, sendsMax: 6 }
  assert.deepStrictEqual(grants(few, [load(), load(), load()]), [2, 2, 2])
  assert.deepStrictEqual(grants(few, [load({ sends: 3 }), load(), load()]), [0, 2, 1])
})

it("grants an account with many endpoints no more than one with a single endpoint", () => {
  const crowd = Array.from({ length: 5 }, () => load({ account: "crowd" }))
  assert.deepStrictEqual(grants({ ...limits, sendsMax: 4 }, [...crowd, load()]), [1, 1, 0, 0, 0, 2])
})

it("limits an account to its cap", () => {
  const all = Array.from({ length: 5 }, () => load({ account: "one" }))
  assert.strictEqual(grants(limits, all).reduce((a, b) => a + b), 8)
})

it("tries an unknown endpoint with one send", () => {
  assert.deepStrictEqual(grants(limits, [load({ standing: unknown }), load({ standing: unknown, sends: 1 })]), [
    1,
    0
  ])
})

it("doubles the allowance of an endpoint after each good answer in a row, and makes it a suspect after a bad one", () => {
  const standings = Standings.make(10)
  const endpoint = "whep_1" as EndpointId
  const ramp = Array.from({ length: 6 }, () => {
    const allowed = allowanceOf({ ...limits, endpointSendsMax: 16 }, standings.of(endpoint))
    standings.judge(endpoint, true)
    return allowed
  })
  assert.deepStrictEqual(ramp, [1, 2, 4, 8, 16, 16])
  standings.judge(endpoint, false)
  assert.strictEqual(standings.of(endpoint), "suspect")
  standings.judge(endpoint, true)
  assert.strictEqual(allowanceOf(limits, standings.of(endpoint)), 2)
})

it("limits an endpoint by its good answers in a row", () => {
  assert.deepStrictEqual(
    grants(limits, [load({ standing: 1 }), load({ standing: 1, sends: 1 }), load({ standing: 2 })]),
    [
      2,
      1,
      4
    ]
  )
})

it("treats an evicted endpoint as unknown, even if it was a suspect", () => {
  const standings = Standings.make(2)
  const [dead, other, third] = ["whep_1", "whep_2", "whep_3"].map((id) => id as EndpointId)
  standings.judge(dead!, false)
  standings.judge(other!, true)
  standings.judge(third!, true)
  assert.deepStrictEqual([dead!, other!, third!].map(standings.of), [unknown, 1, 1])
})

it("limits suspects to half of the room, and keeps a part of that half for unknown endpoints", () => {
  const suspects = Array.from({ length: 10 }, () => load({ standing: "suspect" }))
  assert.strictEqual(grants(limits, suspects).reduce((a, b) => a + b), 6)
  const under = suspects.slice(0, 6).map((one) => ({ ...one, sends: 1 }))
  const unknowns = Array.from({ length: 5 }, () => load({ standing: unknown }))
  assert.deepStrictEqual(grants(limits, [...under, ...unknowns]), [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0])
  assert.deepStrictEqual(grants(limits, [...under, load()]).at(-1), 4)
})

it("limits unknown endpoints to half of the room, also when they turn out to be dead", () => {
  const unknowns = Array.from({ length: 100 }, () => load({ standing: unknown }))
  assert.strictEqual(grants(limits, unknowns).reduce((a, b) => a + b), 8)
  const dead = unknowns.map((one, index) => load({ ...one, standing: "suspect", sends: index < 8 ? 1 : 0 }))
  assert.strictEqual(grants(limits, dead).reduce((a, b) => a + b), 0)
  assert.deepStrictEqual(grants(limits, [...dead, load()]).at(-1), 4)
})

it("grants unknown endpoints before suspects", () => {
  const suspects = Array.from({ length: 5 }, () => load({ standing: "suspect" }))
  const unknowns = Array.from({ length: 5 }, () => load({ standing: unknown }))
  assert.deepStrictEqual(grants(limits, [...suspects, ...unknowns], 5), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
})

it("limits the suspects of an account to half of its room, so that its dead endpoints do not block the others", () => {
  const dead = Array.from({ length: 4 }, () => load({ account: "one", standing: "suspect" }))
  const given = grants(limits, [...dead, load({ account: "one" })])
  assert.strictEqual(given.slice(0, 4).reduce((a, b) => a + b), 3)
  assert.strictEqual(given[4], 4)
})

it("reserves a part of the room for accounts without a send to a proven endpoint", () => {
  const some = { ...limits, reservedSends: 4 }
  const busy = Array.from({ length: 6 }, () => load({ sends: 2 }))
  assert.deepStrictEqual(grants(some, [...busy, load(), load()]).slice(-2), [1, 1])
  // A dead endpoint of the account does not count as activity.
  const dead = load({ account: "one", standing: "suspect", sends: 1 })
  assert.deepStrictEqual(grants(some, [...busy, dead, load({ account: "one" })]).slice(-2), [0, 1])
})

it("reserves a part of an account's room for its endpoints without a send", () => {
  const some = { ...limits, reservedSends: 4 }
  const hanging = [1, 2].map(() => load({ account: "one", sends: 3 }))
  assert.deepStrictEqual(grants(some, [...hanging, load({ account: "one" })]), [0, 0, 1])
})

it("grants unproven endpoints an eighth of their share regardless of proven ones", () => {
  const some = { ...limits, reservedSends: 4 }
  const busy = Array.from({ length: 13 }, () => load({ sends: 1 }))
  const suspects = Array.from({ length: 3 }, () => load({ standing: "suspect" }))
  assert.deepStrictEqual(grants(some, [...busy, ...suspects]).slice(-3), [1, 0, 0])
})

it("tries new endpoints while hanging ones use more than the share of suspects", () => {
  const some = { ...limits, sendsMax: 64, suspectSendsMax: 32, reservedSends: 16 }
  const hanging = Array.from({ length: 12 }, () => load({ standing: "suspect", sends: 4 }))
  const unknowns = Array.from({ length: 10 }, () => load({ standing: unknown }))
  assert.strictEqual(grants(some, [...hanging, ...unknowns]).reduce((a, b) => a + b), 4)
})

it("grants suspects a slot even if there are few", () => {
  const tiny = { sendsMax: 1, accountSendsMax: 1, endpointSendsMax: 1, suspectSendsMax: 1, reservedSends: 0 }
  assert.deepStrictEqual(grants(tiny, [load({ standing: "suspect" })]), [1])
})

it("grants the earlier of two equal endpoints first", () => {
  assert.deepStrictEqual(grants(limits, [load(), load(), load()], 2), [1, 1, 0])
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const AnyStanding = Schema.Literals([unknown, 1, 2, good, "suspect"])
const AnyLoad = Schema.Struct({
  account: Schema.Literals(["a", "b", "c", "d"]),
  standing: AnyStanding,
  sends: between(0, 6),
  isDue: Schema.Boolean
})
const AnyLimits = Schema.Struct({
  sendsMax: between(1, 40),
  accountSendsMax: between(1, 20),
  endpointSendsMax: between(1, 8),
  suspectSendsMax: between(1, 20),
  reservedSends: between(0, 10)
})

const sum = (loads: ReadonlyArray<Load>) => loads.reduce((total, { sends }) => total + sends, 0)
const isProven = ({ standing }: Load) => Standings.kindOf(standing) === "proven"

/** Whether a room of this many sends, shared by `loads`, has space for one more. */
const hasPlace = (limits: Limits, room: number, loads: ReadonlyArray<Load>, one: Load, isQuiet: boolean) => {
  const reserved = Math.floor(limits.reservedSends * room / limits.sendsMax)
  const unprovenMax = Math.max(1, Math.floor(limits.suspectSendsMax * room / limits.sendsMax))
  const [quarter, eighth] = [Math.floor(unprovenMax / 4), Math.ceil(unprovenMax / 8)]
  const unproven = sum(loads.filter((load) => !isProven(load)))
  const unknowns = sum(loads.filter(({ standing }) => standing === unknown))
  const isOpen = sum(loads) < room - reserved
  if (sum(loads) >= room) return false
  if (isProven(one)) return isOpen || isQuiet
  if (one.standing === "suspect") return unproven < unprovenMax - quarter && (isOpen || unproven < eighth)
  return isOpen ? unproven < unprovenMax || unknowns < quarter : unknowns < eighth
}

/** Whether every limit allows the endpoint one more send. */
const couldHave = (limits: Limits, loads: ReadonlyArray<Load>, one: Load) => {
  const own = loads.filter(({ account }) => account === one.account)
  return one.isDue && one.sends < allowanceOf(limits, one.standing) &&
    hasPlace(limits, limits.sendsMax, loads, one, sum(own.filter(isProven)) === 0) &&
    hasPlace(limits, limits.accountSendsMax, own, one, one.sends === 0)
}

it.effect.prop(
  "never exceeds a limit and never leaves usable room unused",
  [AnyLimits, Schema.Array(AnyLoad), between(1, 50)],
  ([limits, anyLoads, max]) =>
    Effect.sync(() => {
      const before = anyLoads.map((one) => load(one))
      const given = grants(limits, before, max)
      const after = before.map((one, index) => ({ ...one, sends: one.sends + given[index]! }))
      const granted = given.reduce((a, b) => a + b, 0)
      assert.isAtMost(granted, max)
      after.forEach((one, index) => {
        assert.isTrue(given[index] === 0 || one.sends <= allowanceOf(limits, one.standing))
      })
      if (granted > 0) {
        assert.isAtMost(sum(after), limits.sendsMax)
        for (const { account } of after.filter((_, index) => given[index]! > 0)) {
          assert.isAtMost(sum(after.filter((one) => one.account === account)), limits.accountSendsMax)
        }
      }
      if (after.some(({ standing }, index) => standing === "suspect" && given[index]! > 0)) {
        const unknowns = sum(after.filter(({ standing }) => standing === unknown))
        assert.isAtMost(sum(after.filter((one) => !isProven(one))), limits.suspectSendsMax + unknowns)
      }
      if (granted < max) assert.isFalse(after.some((one) => couldHave(limits, after, one)))
    })
)

it.effect.prop(
  "grants accounts with equal demands equally",
  [between(1, 40), between(1, 12), between(1, 50)],
  ([sendsMax, accounts, max]) =>
    Effect.sync(() => {
      const given = grants(
        { ...limits, sendsMax, endpointSendsMax: 20 },
        Array.from({ length: accounts }, () => load()),
        max
      )
      assert.isAtMost(Math.max(...given) - Math.min(...given), 1)
    })
)

const quiet = load({ account: "quiet", isDue: false })
const promised: Limits = {
  sendsMax: 64,
  accountSendsMax: 24,
  endpointSendsMax: 16,
  suspectSendsMax: 32,
  reservedSends: 16
}
/** Number of proven endpoints that may hang: fewer than the reserve minus two eighths of the suspects' share. */
const hangingMax = promised.reservedSends - promised.suspectSendsMax / 4 - 1

/** Endpoints that never respond. Each step distributes slots, then some hanging sends become slow or end. */
const Step = Schema.Struct({
  max: between(1, 128),
  slow: Schema.Array(between(0, 80)),
  ended: Schema.Array(between(0, 80))
})

it.effect.prop(
  "grants a proven endpoint of a quiet account immediately, regardless of what hangs elsewhere",
  [
    Schema.Array(between(0, 4)).check(Schema.isMinLength(hangingMax), Schema.isMaxLength(hangingMax)),
    Schema.Array(Schema.Literals([unknown, "suspect"])).check(Schema.isMaxLength(70)),
    Schema.Array(Step).check(Schema.isMaxLength(12))
  ],
  ([proven, unproven, steps]) =>
    Effect.sync(() => {
      let loads: ReadonlyArray<Load> = [
        ...proven.map((account) => load({ account: `good-${account}` })),
        ...unproven.map((standing, n) => load({ account: `unproven-${n % 40}`, standing }))
      ]
      for (const { ended, max, slow } of steps) {
        const given = grants(promised, loads, max)
        loads = loads.map((one, index) => ({ ...one, sends: one.sends + given[index]! }))
        assert.isAtLeast(grants(promised, [...loads, { ...quiet, isDue: true }]).at(-1) ?? 0, 1)
        loads = loads.map((one, index) => ({
          ...one,
          // An unknown endpoint has a single send and is judged when it ends.
          standing: one.sends > 0 && (isProven(one) ? slow : ended).includes(index) ? "suspect" : one.standing,
          sends: ended.includes(index) ? 0 : one.sends
        }))
        assert.isAtLeast(grants(promised, [...loads, { ...quiet, isDue: true }]).at(-1) ?? 0, 1)
      }
    })
)

it("grants every endpoint eventually if granted ones move to the end of the list", () => {
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
