import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import type { AccountStore } from "../src/AccountStore.ts"
import * as PlanTable from "../src/PlanTable.ts"
import { depositMax, type Movement } from "../src/Wallet.ts"
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
        yield* host.deposit(id, { reference: "a", cents: depositMax })
        for (const cents of [0, -1, 0.5, depositMax + 1, Number.NaN]) {
          assert.strictEqual(yield* reasonOf(host.deposit(id, { reference: "b", cents })), "DepositInvalid")
        }
        for (const reference of ["", "x".repeat(129)]) {
          assert.strictEqual(yield* reasonOf(host.deposit(id, { reference, cents: 1 })), "DepositInvalid")
        }
        assert.strictEqual(yield* reasonOf(host.deposit(id, { reference: "a", cents: 1 })), "ReferenceReused")
        assert.strictEqual((yield* host.get(id)).balanceCents, depositMax)
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
        // Set back to the period that was paid: it goes on as before, and nothing is paid.
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
