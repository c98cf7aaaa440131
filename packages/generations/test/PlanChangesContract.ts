/** Slots of waiting jobs when the plan of their account changes. */
import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import type { CreditsTier } from "@kinora/accounts/Plan"
import { Ledger } from "@kinora/ledger/Ledger"
import { type MemoryBackend, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import * as Lanes from "@kinora/scheduler/Lanes"
import * as Scheduler from "@kinora/scheduler/Scheduler"
import { SchedulerStore } from "@kinora/scheduler/SchedulerStore"
import * as Wakeup from "@kinora/scheduler/Wakeup"
import { DateTime, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { laneOf } from "../src/internal/jobAddress.ts"
import * as PlanChanges from "../src/PlanChanges.ts"
import * as PlanRenewal from "../src/PlanRenewal.ts"
import { type layerMemory, request } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const planTable = PlanTable.defaults

/** A credits plan that ends in ten minutes. */
const planOf = (tier: CreditsTier, autoRenew = false) =>
  Effect.map(DateTime.now, (now) => Option.some({ tier, periodEnd: DateTime.add(now, { minutes: 10 }), autoRenew }))

const set = Effect.fnUntraced(function*(id: AccountId, tier: CreditsTier) {
  yield* (yield* PlanChanges.PlanChanges).set(id, "credits", yield* planOf(tier))
})

/** Creates jobs with the plans of this account value, and returns their ids, oldest first. */
const createAll = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], keys: ReadonlyArray<string>) {
  const { create } = yield* Generations
  return yield* Effect.forEach(
    keys,
    (key) =>
      Effect.flatMap(
        request(account, { key }),
        (command) => Effect.map(create(command), ({ generation }) => generation.id)
      )
  )
})

/** Opens an account with a credits plan, credits, and this many jobs. */
const open = Effect.fnUntraced(function*(tier: CreditsTier, count: number, autoRenew = false) {
  const accounts = yield* Accounts
  const ledger = yield* Ledger
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  yield* accounts.setPlan(id, "credits", yield* planOf(tier, autoRenew))
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 90 })
  yield* ledger.grant({ account: id, reference: "start", kind: "addon", credits: 1_000, expiresAt, at })
  const account = yield* accounts.get(id)
  return { account, ids: yield* createAll(account, Array.from({ length: count }, (_, n) => `job ${n}`)) }
})

const cancelAll = Effect.fnUntraced(function*(account: string, ids: ReadonlyArray<string>) {
  const { cancel } = yield* Generations
  yield* Effect.forEach(ids, (id) => cancel(account, id), { discard: true })
})

/** Counts the jobs of an account by status. */
const countsOf = Effect.fnUntraced(function*(account: AccountId) {
  const { generations } = yield* (yield* Generations).list(account, { limit: 100 })
  const count = (status: string) => generations.filter((generation) => generation.status === status).length
  assert.deepStrictEqual(yield* (yield* Scheduler.Scheduler).verify, [])
  return { queued: count("queued"), pending: count("pending") }
})

/** Returns the cap and the weight of the credits lane of an account. */
const termsOf = Effect.fnUntraced(function*(account: AccountId) {
  const { atomically } = yield* UnitOfWork
  const { load } = yield* Scheduler.Scheduler
  const lane = laneOf({ account, plan: "credits" })
  const { cap, weight } = Lanes.get(yield* atomically(load({ lanes: [lane] })), lane.lane)
  return { cap, weight }
})

/** Behaviour of plan changes on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Slots of a plan (${name})`, (it) => {
    it.effect("go to the oldest waiting jobs when the plan is raised, and workers are woken", () =>
      Effect.gen(function*() {
        const { account: { id }, ids } = yield* open("starter", 12)
        const { get } = yield* Generations
        assert.deepStrictEqual(yield* countsOf(id), { queued: 2, pending: 10 })
        const woken = yield* (yield* Wakeup.Wakeup).subscribe
        yield* woken.close
        yield* set(id, "business")
        yield* woken.await
        const statuses = yield* Effect.forEach(ids, (one) => Effect.map(get(id, one), ({ status }) => status))
        assert.deepStrictEqual(statuses, [...Array(8).fill("queued"), ...Array(4).fill("pending")])
        assert.deepStrictEqual(yield* countsOf(id), { queued: 8, pending: 4 })
      }).pipe(Effect.scoped))

    it.effect("stay with the jobs that hold one when the plan is lowered, and free ones beyond it go to no job", () =>
      Effect.gen(function*() {
        const { account: { id }, ids } = yield* open("business", 12)
        yield* set(id, "starter")
        assert.deepStrictEqual(yield* countsOf(id), { queued: 8, pending: 4 })
        yield* cancelAll(id, ids.slice(0, 6))
        assert.deepStrictEqual(yield* countsOf(id), { queued: 2, pending: 4 })
        yield* cancelAll(id, ids.slice(6, 7))
        assert.deepStrictEqual(yield* countsOf(id), { queued: 2, pending: 3 })
      }))

    it.effect("are those of an account without a plan after the plan was ended or has lapsed", () =>
      Effect.gen(function*() {
        const ended = yield* open("business", 12)
        const lapsed = yield* open("business", 12)
        yield* (yield* PlanChanges.PlanChanges).set(ended.account.id, "credits", Option.none())
        yield* TestClock.adjust("10 minutes")
        yield* (yield* PlanRenewal.PlanRenewal).renew(100)
        for (const { account: { id }, ids } of [ended, lapsed]) {
          assert.deepStrictEqual(yield* countsOf(id), { queued: 8, pending: 4 })
          yield* cancelAll(id, ids.slice(0, 8))
          assert.deepStrictEqual(yield* countsOf(id), { queued: 1, pending: 3 })
        }
      }))

    it.effect("are corrected by a renewal, and a renewal that does not change them writes nothing to the scheduler", () =>
      Effect.gen(function*() {
        const { account: { id } } = yield* open("starter", 12)
        const accounts = yield* Accounts
        const store = yield* SchedulerStore
        const changes: Array<Parameters<typeof store.apply>[0]> = []
        const { renew } = yield* PlanRenewal.PlanRenewal.pipe(
          Effect.provide(PlanRenewal.layerWith({ planTable }).pipe(Layer.provide(Scheduler.layerWith()))),
          Effect.provideService(SchedulerStore, {
            ...store,
            apply: (change) => Effect.andThen(Effect.sync(() => changes.push(change)), store.apply(change))
          })
        )
        yield* accounts.deposit(id, { reference: "start", cents: 2 * planTable.credits.business.priceCents })
        yield* accounts.setPlan(id, "credits", yield* planOf("business", true))
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* renew(100), 1)
        assert.deepStrictEqual(yield* countsOf(id), { queued: 8, pending: 4 })

        changes.length = 0
        yield* TestClock.adjust("30 days")
        assert.strictEqual(yield* renew(100), 1)
        assert.deepStrictEqual(changes, [{
          ended: [],
          enqueued: [],
          groups: [],
          lanes: [],
          restamped: [],
          promotions: [],
          retried: [],
          delayed: [],
          postponed: []
        }])
      }))

    it.effect("and the plan stay as they are if their unit fails before its end", () =>
      Effect.gen(function*() {
        const { account: { id, plans } } = yield* open("starter", 12)
        const store = yield* GenerationStore
        const dying = yield* PlanChanges.PlanChanges.pipe(
          Effect.provide(PlanChanges.layerWith({ planTable })),
          Effect.provideService(GenerationStore, {
            ...store,
            queue: (ids) => Effect.andThen(store.queue(ids), Effect.die(new Error("The process dies")))
          })
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.set(id, "credits", yield* planOf("business")))))
        assert.deepStrictEqual(yield* countsOf(id), { queued: 2, pending: 10 })
        assert.deepStrictEqual(yield* termsOf(id), { cap: 2, weight: 2 })
        assert.deepStrictEqual((yield* (yield* Accounts).get(id)).plans, plans)
        yield* set(id, "business")
        assert.deepStrictEqual(yield* countsOf(id), { queued: 8, pending: 4 })
      }))

    it.effect("are those of the stored plan when a job is created with an older one from a cache", () =>
      Effect.gen(function*() {
        const raised = yield* open("starter", 12)
        yield* set(raised.account.id, "business")
        yield* createAll(raised.account, ["late"])
        yield* cancelAll(raised.account.id, raised.ids.slice(0, 1))
        assert.deepStrictEqual(yield* countsOf(raised.account.id), { queued: 8, pending: 4 })

        const lowered = yield* open("business", 0)
        yield* set(lowered.account.id, "starter")
        yield* createAll(lowered.account, ["a", "b", "c", "d"])
        assert.deepStrictEqual(yield* countsOf(lowered.account.id), { queued: 2, pending: 2 })
      }))

    it.effect("come with the weight of the tier, by which jobs are claimed, from the first job and with each change", () =>
      Effect.gen(function*() {
        const { account: { id } } = yield* open("starter", 3)
        assert.deepStrictEqual(yield* termsOf(id), { cap: 2, weight: 2 })
        yield* set(id, "business")
        assert.deepStrictEqual(yield* termsOf(id), { cap: 8, weight: 8 })
        yield* set(id, "pro")
        assert.deepStrictEqual(yield* termsOf(id), { cap: 4, weight: 4 })
        yield* (yield* PlanChanges.PlanChanges).set(id, "credits", Option.none())
        assert.deepStrictEqual(yield* termsOf(id), { cap: 1, weight: 1 })
      }))
  })
}
