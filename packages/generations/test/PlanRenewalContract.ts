/** Renewal of plans at the end of their period, and the credits of the new period. */
import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import * as Ledger from "@kinora/ledger/Ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Exit, type Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as PlanChanges from "../src/PlanChanges.ts"
import * as PlanRenewal from "../src/PlanRenewal.ts"
import type { layerMemory } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const planTable = PlanTable.defaults
const { credits, priceCents } = planTable.credits.starter

/** Opens an account with this balance, whose credits plan is renewed in ten minutes. */
const open = Effect.fnUntraced(function*(balanceCents: number) {
  const accounts = yield* Accounts
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  const end = DateTime.add(yield* DateTime.now, { minutes: 10 })
  yield* accounts.setPlan(id, "credits", Option.some({ tier: "starter", periodEnd: end, autoRenew: true }))
  yield* accounts.deposit(id, { reference: "start", cents: balanceCents })
  return { id, end }
})

const stateOf = Effect.fnUntraced(function*(id: Parameters<Accounts["Service"]["get"]>[0]) {
  const { balanceCents, plans } = yield* (yield* Accounts).get(id)
  const { lots } = yield* (yield* Ledger.Ledger).balances(id, yield* DateTime.now)
  return {
    balanceCents,
    end: Option.getOrUndefined(Option.map(plans.credits, ({ periodEnd }) => periodEnd)),
    lots: lots.map(({ expiresAt, kind, remaining }) => ({ kind, remaining, expiresAt }))
  }
})

/** Behaviour of plan renewal on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Plans whose period ends (${name})`, (it) => {
    it.effect("are charged and granted credits once per period, also if several hosts renew concurrently", () =>
      Effect.gen(function*() {
        const { renew } = yield* PlanRenewal.PlanRenewal
        const { end, id } = yield* open(2 * priceCents)
        yield* renew(100)
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents: 2 * priceCents, end, lots: [] })

        yield* TestClock.adjust("10 minutes")
        const done = yield* Effect.all([renew(100), renew(100), renew(100)], { concurrency: "unbounded" })
        assert.strictEqual(done.reduce((sum, count) => sum + count, 0), 1)
        const second = DateTime.add(end, { days: 30 })
        const lot = { kind: "plan", remaining: credits, expiresAt: second } as const
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents: priceCents, end: second, lots: [lot] })

        yield* TestClock.adjust("30 days")
        yield* renew(100)
        const third = DateTime.add(second, { days: 30 })
        const state = { balanceCents: 0, end: third, lots: [{ ...lot, expiresAt: third }] }
        assert.deepStrictEqual(yield* stateOf(id), state)

        yield* TestClock.adjust("30 days")
        yield* renew(100)
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents: 0, end: undefined, lots: [] })
        assert.deepStrictEqual((yield* (yield* Ledger.Ledger).verify({ account: id })).discrepancies, [])
      }))

    it.effect("are neither charged nor granted credits again after being set back to a renewed period", () =>
      Effect.gen(function*() {
        const { renew } = yield* PlanRenewal.PlanRenewal
        const { end, id } = yield* open(2 * priceCents)
        yield* TestClock.adjust("10 minutes")
        yield* renew(100)
        const renewed = yield* stateOf(id)
        const plan = Option.some({ tier: "starter", periodEnd: end, autoRenew: true } as const)
        yield* (yield* Accounts).setPlan(id, "credits", plan)
        yield* renew(100)
        assert.deepStrictEqual(yield* stateOf(id), renewed)
      }))

    it.effect("can be subscriptions, whose credits are granted once per period and tier", () =>
      Effect.gen(function*() {
        const { renew } = yield* PlanRenewal.PlanRenewal
        const { subscribe } = yield* PlanChanges.PlanChanges
        const { starter, pro } = planTable.credits
        const upgradeCents = (pro.priceCents - starter.priceCents) / 2
        const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
        const accounts = yield* Accounts
        const { id } = yield* accounts.create({ email: `${name}@example.com` })
        yield* accounts.deposit(id, { reference: "start", cents: 2 * starter.priceCents + upgradeCents })
        const all = (tier: "pro" | "starter") =>
          Effect.all(Array.from({ length: 3 }, () => subscribe(id, "credits", tier)), { concurrency: "unbounded" })

        yield* all("starter")
        const end = DateTime.add(yield* DateTime.now, { days: 30 })
        const first = { kind: "plan", remaining: starter.credits, expiresAt: end } as const
        const balanceCents = starter.priceCents + upgradeCents
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents, end, lots: [first] })
        yield* TestClock.adjust("15 days")
        yield* all("pro")
        const second = { ...first, remaining: (pro.credits - starter.credits) / 2 }
        const raised = { balanceCents: starter.priceCents, end, lots: [first, second] }
        assert.deepStrictEqual(yield* stateOf(id), raised)
        yield* all("starter")
        assert.deepStrictEqual(yield* stateOf(id), raised)

        yield* TestClock.adjust("15 days")
        yield* renew(100)
        const next = DateTime.add(end, { days: 30 })
        assert.deepStrictEqual(yield* stateOf(id), {
          balanceCents: 0,
          end: next,
          lots: [{ ...first, expiresAt: next }]
        })
        assert.deepStrictEqual((yield* (yield* Ledger.Ledger).verify({ account: id })).discrepancies, [])
      }))

    it.effect("are not subscribed to and not paid if the grant of credits fails", () =>
      Effect.gen(function*() {
        const { id } = yield* open(priceCents)
        const accounts = yield* Accounts
        yield* accounts.setPlan(id, "credits", Option.none())
        const ledger = yield* Ledger.Ledger
        const dying = yield* PlanChanges.PlanChanges.pipe(
          Effect.provide(PlanChanges.layerWith({ planTable })),
          Effect.provideService(Ledger.Ledger, { ...ledger, grant: () => Effect.die(new Error("The process dies")) })
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.subscribe(id, "credits", "starter"))))
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents: priceCents, end: undefined, lots: [] })
        yield* (yield* PlanChanges.PlanChanges).subscribe(id, "credits", "starter")
        assert.strictEqual((yield* stateOf(id)).lots.length, 1)
      }))

    it.effect("are renewed if another plan cannot be renewed", () =>
      Effect.gen(function*() {
        const { renew } = yield* PlanRenewal.PlanRenewal
        const stuck = yield* open(priceCents)
        yield* TestClock.adjust("1 second")
        const other = yield* open(priceCents)
        const { grant } = yield* Ledger.Ledger
        const end = DateTime.add(stuck.end, { days: 30 })
        yield* grant({
          account: stuck.id,
          reference: `renewal starter ${DateTime.formatIso(end)}`,
          kind: "addon",
          credits: 1,
          expiresAt: end,
          at: yield* DateTime.now
        })
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* renew(100), 1)
        assert.strictEqual((yield* stateOf(other.id)).balanceCents, 0)
        assert.deepInclude(yield* stateOf(stuck.id), { balanceCents: priceCents, end: stuck.end })
      }))

    it.effect("are not charged if the grant of credits fails, and are retried", () =>
      Effect.gen(function*() {
        const { end, id } = yield* open(priceCents)
        const ledger = yield* Ledger.Ledger
        yield* TestClock.adjust("10 minutes")
        const dying = yield* PlanRenewal.PlanRenewal.pipe(
          Effect.provide(PlanRenewal.layerWith({ planTable })),
          Effect.provideService(Ledger.Ledger, { ...ledger, grant: () => Effect.die(new Error("The process dies")) })
        )
        yield* Effect.exit(dying.renew(100))
        assert.deepStrictEqual(yield* stateOf(id), { balanceCents: priceCents, end, lots: [] })
        yield* (yield* PlanRenewal.PlanRenewal).renew(100)
        assert.strictEqual((yield* stateOf(id)).balanceCents, 0)
      }))
  })
}
