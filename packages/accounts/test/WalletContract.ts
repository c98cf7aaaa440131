import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import type { AccountStore } from "../src/AccountStore.ts"
import * as PlanTable from "../src/PlanTable.ts"
import { amountMax, type Movement } from "../src/Wallet.ts"
import { makeAccount, makeHost, reasonOf } from "./Hosts.ts"

const table = PlanTable.defaults
const price = table.studio.pro.priceCents

/** The contract of balances and renewals, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Wallets (${name})`, (it) => {
    it.effect("book a deposit once per reference, with concurrent calls", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { balanceCents, id } = yield* makeAccount(host)
        assert.strictEqual(balanceCents, 0)
        const same = { reference: "invoice 1", cents: 500 }
        const answers = yield* Effect.all(Array.from({ length: 5 }, () => host.deposit(id, same)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.filter(({ isNew }) => isNew).length, 1)
        for (const { movement } of answers) assert.deepInclude(movement, { ...same, account: id, balanceCents: 500 })
        yield* host.deposit(id, { reference: "invoice 2", cents: 1 })
        assert.strictEqual((yield* host.get(id)).balanceCents, 501)
        assert.strictEqual((yield* makeAccount(host)).balanceCents, 0)
      }))

    it.effect("reject an invalid deposit and a reused reference, and change nothing", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* makeAccount(host)
        yield* host.deposit(id, { reference: "a", cents: amountMax })
        for (const cents of [0, -1, 0.5, amountMax + 1, Number.NaN]) {
          assert.strictEqual(yield* reasonOf(host.deposit(id, { reference: "b", cents })), "AmountInvalid")
        }
        for (const reference of ["", "x".repeat(129)]) {
          assert.strictEqual(yield* reasonOf(host.deposit(id, { reference, cents: 1 })), "AmountInvalid")
        }
        assert.strictEqual(yield* reasonOf(host.deposit(id, { reference: "a", cents: 1 })), "ReferenceReused")
        assert.strictEqual((yield* host.get(id)).balanceCents, amountMax)
      }))

    it.effect("book a debit once per reference, and are never negative", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* makeAccount(host)
        yield* host.deposit(id, { reference: "a", cents: 100 })
        const debits = Array.from({ length: 5 }, (_, n) => host.debit(id, { reference: `debit ${n}`, cents: 30 }))
        const answers = yield* Effect.all(debits.map(Effect.result), { concurrency: "unbounded" })
        assert.strictEqual(answers.filter(Result.isSuccess).length, 3)
        assert.strictEqual((yield* host.get(id)).balanceCents, 10)
        const { id: other } = yield* makeAccount(host)
        yield* host.deposit(other, { reference: "a", cents: 100 })
        // A deposit and a debit can have the same reference.
        const { isNew, movement } = yield* host.debit(other, { reference: "a", cents: 100 })
        assert.deepInclude(movement, { kind: "debit", cents: -100, balanceCents: 0 })
        assert.isTrue(isNew)
        assert.deepStrictEqual(yield* host.debit(other, { reference: "a", cents: 100 }), { isNew: false, movement })
        assert.strictEqual(yield* reasonOf(host.debit(other, { reference: "a", cents: 1 })), "ReferenceReused")
        assert.strictEqual(yield* reasonOf(host.debit(other, { reference: "b", cents: 1 })), "BalanceTooLow")
        assert.strictEqual(yield* reasonOf(host.debit(other, { reference: "b", cents: 0 })), "AmountInvalid")
      }))

    it.effect("pay a subscription once, however many hosts ask for it", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost(), yield* makeHost()] as const
        const [host] = hosts
        const { id } = yield* makeAccount(host)
        const { credits: tiers } = table
        const upgradeCents = (tiers.pro.priceCents - tiers.starter.priceCents) / 2
        assert.strictEqual(
          yield* reasonOf(host.subscribe(id, "credits", "starter", table)),
          "BalanceTooLow"
        )
        yield* host.deposit(id, { reference: "a", cents: tiers.starter.priceCents + upgradeCents })
        const subscribeAll = (tier: "business" | "pro" | "starter") =>
          Effect.map(
            Effect.all(hosts.map((host) => host.subscribe(id, "credits", tier, table)), { concurrency: "unbounded" }),
            (decisions) => decisions.map(({ _tag }) => _tag).toSorted()
          )
        assert.deepStrictEqual(yield* subscribeAll("starter"), ["Continued", "Continued", "Started"])
        const periodEnd = DateTime.add(yield* DateTime.now, { days: 30 })
        assert.strictEqual((yield* host.get(id)).balanceCents, upgradeCents)
        yield* TestClock.adjust("15 days")
        assert.deepStrictEqual(yield* subscribeAll("pro"), ["Continued", "Continued", "Raised"])
        const pro = { tier: "pro", periodEnd, autoRenew: true } as const
        assert.deepInclude(yield* host.get(id), {
          balanceCents: 0,
          plans: { studio: Option.none(), credits: Option.some(pro) }
        })
        assert.strictEqual(yield* reasonOf(host.subscribe(id, "credits", "business", table)), "BalanceTooLow")
        assert.deepStrictEqual(yield* subscribeAll("starter"), ["Scheduled", "Scheduled", "Scheduled"])
        const later = { ...pro, nextTier: "starter" } as const
        assert.deepStrictEqual((yield* host.get(id)).plans.credits, Option.some(later))
        const kinds = (yield* host.listMovements({ account: id, limit: 10 })).map(({ cents, kind }) => [kind, cents])
        assert.deepStrictEqual(kinds, [
          ["upgrade", -upgradeCents],
          ["subscription", -tiers.starter.priceCents],
          ["deposit", tiers.starter.priceCents + upgradeCents]
        ])

        yield* host.deposit(id, { reference: "b", cents: tiers.starter.priceCents })
        yield* TestClock.adjust("15 days")
        assert.strictEqual((yield* host.renewPlan(id, "credits", table))._tag, "Renewed")
        const starter = { tier: "starter", periodEnd: DateTime.add(periodEnd, { days: 30 }), autoRenew: true } as const
        assert.deepInclude(yield* host.get(id), {
          balanceCents: 0,
          plans: { studio: Option.none(), credits: Option.some(starter) }
        })
      }))

    it.effect("pay no renewal of a plan after it was stopped, and continue if it is resumed", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* makeAccount(host)
        yield* host.deposit(id, { reference: "a", cents: 2 * price })
        assert.strictEqual(yield* reasonOf(host.stopRenewal(id, "studio")), "PlanNotActive")
        yield* host.subscribe(id, "studio", "pro", table)
        const periodEnd = DateTime.add(yield* DateTime.now, { days: 30 })
        yield* host.subscribe(id, "studio", "starter", table)
        yield* host.stopRenewal(id, "studio")
        yield* host.stopRenewal(id, "studio")
        const stopped = { tier: "pro", periodEnd, autoRenew: false } as const
        assert.deepStrictEqual((yield* host.get(id)).plans.studio, Option.some(stopped))
        assert.strictEqual((yield* host.subscribe(id, "studio", "pro", table))._tag, "Continued")
        assert.deepStrictEqual((yield* host.get(id)).plans.studio, Option.some({ ...stopped, autoRenew: true }))
        yield* host.stopRenewal(id, "studio")
        yield* TestClock.adjust("30 days")
        assert.strictEqual((yield* host.renewPlan(id, "studio", table))._tag, "Lapsed")
        assert.strictEqual((yield* host.get(id)).balanceCents, price)
        assert.strictEqual(yield* reasonOf(host.stopRenewal(id, "studio")), "PlanNotActive")
      }))

    it.effect("pay a plan once per period, however many hosts renew it", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost(), yield* makeHost()] as const
        const [host] = hosts
        const { id } = yield* makeAccount(host)
        const end = DateTime.add(yield* DateTime.now, { minutes: 10 })
        yield* host.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd: end, autoRenew: true }))
        yield* host.deposit(id, { reference: "a", cents: 2 * price + 1 })
        assert.deepStrictEqual((yield* host.duePlans(10)).filter(({ account }) => account === id), [])

        yield* TestClock.adjust("9 minutes")
        const due = (yield* host.duePlans(10)).filter(({ account }) => account === id)
        assert.deepStrictEqual(due, [{ account: id, group: "studio" }])
        const decisions = yield* Effect.all(hosts.map((host) => host.renewPlan(id, "studio", table)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(decisions.map(({ _tag }) => _tag).toSorted(), ["Kept", "Kept", "Renewed"])
        const renewed = yield* host.get(id)
        assert.strictEqual(renewed.balanceCents, price + 1)
        assert.deepStrictEqual(
          Option.map(renewed.plans.studio, ({ periodEnd }) => periodEnd),
          Option.some(DateTime.add(end, { days: 30 }))
        )
        assert.deepStrictEqual((yield* host.duePlans(10)).filter(({ account }) => account === id), [])
        // Set back to the period that was paid: it continues as before, and nothing is paid.
        yield* host.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd: end, autoRenew: true }))
        assert.strictEqual((yield* host.renewPlan(id, "studio", table))._tag, "Renewed")
        assert.deepStrictEqual(yield* host.get(id), renewed)
      }))

    it.effect("list their movements page by page, newest first", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id: account } = yield* makeAccount(host)
        yield* host.deposit((yield* makeAccount(host)).id, { reference: "other", cents: 1 })
        const periodEnd = DateTime.add(yield* DateTime.now, { seconds: 10 })
        yield* host.deposit(account, { reference: "a", cents: price })
        yield* host.deposit(account, { reference: "b", cents: 1 })
        yield* host.setPlan(account, "studio", Option.some({ tier: "pro", periodEnd, autoRenew: true }))
        yield* TestClock.adjust("1 second")
        yield* host.renewPlan(account, "studio", table)
        const renewal = {
          kind: "renewal",
          reference: `studio pro ${DateTime.formatIso(DateTime.add(periodEnd, { days: 30 }))}`
        }
        const all = yield* host.listMovements({ account, limit: 10 })
        assert.deepStrictEqual(
          all.map(({ balanceCents, cents, kind, reference }) => [kind, reference, cents, balanceCents]),
          [
            ["renewal", renewal.reference, -price, 1],
            ["deposit", "b", 1, price + 1],
            ["deposit", "a", price, price]
          ]
        )
        const paged = []
        for (let last = all[0]; last !== undefined;) {
          const page: ReadonlyArray<Movement> = yield* host.listMovements({ account, before: last, limit: 1 })
          paged.push(...page)
          last = page[0]
        }
        assert.deepStrictEqual(paged, all.slice(1))
        const before = { kind: "deposit", reference: "other" } as const
        assert.deepStrictEqual(yield* host.listMovements({ account, before, limit: 10 }), [])
      }))

    it.effect("remove a plan that cannot be paid or does not renew", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* makeAccount(host)
        const periodEnd = DateTime.add(yield* DateTime.now, { seconds: 90 })
        yield* host.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd, autoRenew: true }))
        yield* host.setPlan(id, "credits", Option.some({ tier: "starter", periodEnd, autoRenew: false }))
        yield* host.deposit(id, { reference: "a", cents: price - 1 })
        const due = Effect.map(host.duePlans(10), (plans) => plans.filter(({ account }) => account === id))
        yield* TestClock.adjust("45 seconds")
        assert.deepStrictEqual(yield* due, [{ account: id, group: "studio" }])
        assert.strictEqual((yield* host.renewPlan(id, "studio", table))._tag, "Kept")
        yield* TestClock.adjust("45 seconds")
        assert.sameDeepMembers([...yield* due], [{ account: id, group: "studio" }, { account: id, group: "credits" }])
        assert.strictEqual((yield* host.renewPlan(id, "studio", table))._tag, "Lapsed")
        assert.strictEqual((yield* host.renewPlan(id, "credits", table))._tag, "Lapsed")
        const { balanceCents, plans } = yield* host.get(id)
        assert.strictEqual(balanceCents, price - 1)
        assert.isTrue(Option.isNone(plans.studio) && Option.isNone(plans.credits))
        assert.deepStrictEqual(yield* due, [])
      }))
  })
