/** Statements and round trips of single operations, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import { Ledger } from "@kinora/ledger"
import { Pipelining } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { DateTime, Effect, Option } from "effect"
import { Generations } from "../src/Generations.ts"
import { PlanChanges } from "../src/PlanChanges.ts"
import { Uploads } from "../src/Uploads.ts"
import { layerSql, openAccount, openLimited, request } from "./Assembly.ts"
import * as Checkouts from "./CheckoutsContract.ts"

/** Upper bounds, `BEGIN` and `COMMIT` included. Locks of a unit wait for the client in each round trip. */
const bounds = {
  charge: { statements: 5, roundTrips: 2 },
  refund: { statements: 5, roundTrips: 2 },
  create: { statements: 9, roundTrips: 2 },
  // Locks and reads what a new job needs, together with the claim, before it is known that there is none.
  replay: { statements: 8, roundTrips: 4 },
  get: { statements: 1, roundTrips: 1 },
  cancel: { statements: 11, roundTrips: 5 },
  // Locks, reads and writes what the key has spent.
  createLimited: { statements: 12, roundTrips: 2 },
  cancelLimited: { statements: 14, roundTrips: 6 }
}

it.live("operations send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const { cancel, create, get } = yield* Generations
      const { charge, refund } = yield* Ledger.Ledger
      const account = yield* openAccount({ credits: 100 })
      const at = yield* DateTime.now
      const job = { account: account.id, reference: "job", at }
      // The first job of an account also opens its lane.
      const { generation } = yield* create(yield* request(account, { key: "first" }))
      const created = create(yield* request(account, { key: "second" }))
      const other = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(5) } })
      const { budgetLine } = other
      const { generation: first } = yield* create(yield* request(other.account, { key: "first", budgetLine }))
      const limited = create(yield* request(other.account, { key: "second", budgetLine }))
      return {
        charge: yield* costOf(charge({ ...job, amount: { _tag: "Credits", credits: 1, purpose: "image" } })),
        refund: yield* costOf(refund(job)),
        create: yield* costOf(created),
        replay: yield* costOf(created),
        get: yield* costOf(get(account.id, generation.id)),
        cancel: yield* costOf(cancel(account.id, generation.id)),
        createLimited: yield* costOf(limited),
        cancelLimited: yield* costOf(cancel(other.account.id, first.id))
      }
    }).pipe(Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))

const planBounds = {
  // The first change also opens the lane.
  setFirst: { statements: 11, roundTrips: 6 },
  setSameSlots: { statements: 6, roundTrips: 3 },
  // Queues waiting jobs.
  setMoreSlots: { statements: 9, roundTrips: 5 },
  remove: { statements: 7, roundTrips: 4 },
  subscribe: { statements: 12, roundTrips: 6 },
  raise: { statements: 14, roundTrips: 7 }
}

it.live("plan changes send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const accounts = yield* Accounts
      const { create } = yield* Generations
      const { set, subscribe } = yield* PlanChanges
      const { id } = yield* accounts.create({ email: "someone@example.com" })
      const periodEnd = DateTime.add(yield* DateTime.now, { days: 30 })
      const setTo = (tier: "starter" | "pro") =>
        costOf(set(id, "credits", Option.some({ tier, periodEnd, autoRenew: false })))
      const setFirst = yield* setTo("starter")
      const setSameSlots = yield* setTo("starter")
      yield* openAccount({ credits: 100, id })
      const account = yield* accounts.get(id)
      for (let n = 0; n < 6; n++) yield* create(yield* request(account, { key: `${n}` }))
      const setMoreSlots = yield* setTo("pro")
      const remove = yield* costOf(set(id, "credits", Option.none()))
      const { priceCents } = PlanTable.defaults.credits.business
      yield* accounts.deposit(id, { cents: 10 * priceCents, reference: "start" })
      return {
        setFirst,
        setSameSlots,
        setMoreSlots,
        remove,
        subscribe: yield* costOf(subscribe(id, "credits", "pro")),
        raise: yield* costOf(subscribe(id, "credits", "business"))
      }
    }).pipe(Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, planBounds)
  }).pipe(Effect.scoped))

const uploadBounds = {
  create: { statements: 7, roundTrips: 4 },
  remove: { statements: 4, roundTrips: 4 },
  // A job may read it.
  removeKept: { statements: 3, roundTrips: 3 }
}

it.live("uploads send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const { create } = yield* Generations
      const uploads = yield* Uploads
      const account = yield* openAccount({ credits: 100 })
      const bytes = new Uint8Array(100)
      yield* uploads.create(account.id, bytes, undefined)
      const other = yield* uploads.create(account.id, bytes, undefined)
      yield* create(
        yield* request(account, {
          model: "redraw-1",
          params: { prompt: "a lake", images: [{ upload_id: other.id }] }
        })
      )
      let id = ""
      const createCost = yield* costOf(Effect.tap(uploads.create(account.id, bytes, undefined), (upload) =>
        Effect.sync(() => {
          id = upload.id
        })))
      return {
        create: createCost,
        remove: yield* costOf(uploads.remove(account.id, id)),
        removeKept: yield* costOf(uploads.remove(account.id, other.id))
      }
    }).pipe(Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, uploadBounds)
  }).pipe(Effect.scoped))

const checkoutBounds = {
  reserve: { statements: 6, roundTrips: 3 },
  start: { statements: 1, roundTrips: 1 },
  // Ends the payment and makes the deposit.
  receive: { statements: 9, roundTrips: 3 },
  receiveAgain: { statements: 4, roundTrips: 2 }
}

it.live("checkouts send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const host = yield* Checkouts.makeHost()
      const account = yield* Checkouts.openAccount
      const payment = yield* host.reserve(account, 2_000)
      const reserve = yield* costOf(host.reserve(account, 2_000))
      const urls = { successUrl: "https://shop.test/done", cancelUrl: "https://shop.test/back" }
      const start = yield* costOf(host.start(payment, urls))
      const received = Checkouts.receive(host, Checkouts.outcomeOf(payment.id))
      return {
        reserve,
        start,
        receive: yield* costOf(received),
        receiveAgain: yield* costOf(received)
      }
    }).pipe(Effect.scoped, Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, checkoutBounds)
  }).pipe(Effect.scoped))
