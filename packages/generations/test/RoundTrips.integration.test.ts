/** Statements and round trips of single operations, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import { Ledger } from "@kinora/ledger"
import { Pipelining } from "@kinora/persistence"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { RoundTrips } from "@kinora/testkit"
import { DateTime, Effect, Option } from "effect"
import { Generations } from "../src/Generations.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { makeEndAll } from "../src/internal/end/endAll.ts"
import { subjectOf } from "../src/internal/jobAddress.ts"
import { PlanChanges } from "../src/PlanChanges.ts"
import { Uploads } from "../src/Uploads.ts"
import { layerSql, listen, openAccount, openLimited, request } from "./Assembly.ts"
import * as Checkouts from "./CheckoutsContract.ts"

/**
 * `BEGIN` and `COMMIT` included. In each unit, all that follows the last read leaves in one network write with `COMMIT`. Where locks
 * wait for the client more than once, the comment names the reads that depend on what the locks protect.
 */
const bounds = {
  charge: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  refund: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  create: { statements: 9, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  // Locks and reads what a new job needs, together with the claim, before it is known that there is none. Reads the earlier claim,
  // and the generation that it names.
  replay: { statements: 8, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  get: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  // Awaits the ended generation, of which the webhook event consists.
  cancel: { statements: 11, roundTrips: 5, writesAfterLock: 2, writesAfterRead: 1 },
  // Locks, reads and writes what the key has spent.
  createLimited: { statements: 12, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  // Also locks and reads what the key has spent, which the ended generation names.
  cancelLimited: { statements: 14, roundTrips: 6, writesAfterLock: 3, writesAfterRead: 1 }
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

/**
 * Units of a worker, whose account has an endpoint. Each awaits the started or ended generations, of which the events consist, and
 * then the endpoints that get them.
 */
const workerBounds = {
  claim: { statements: 6, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  renewLease: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  complete: { statements: 8, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  // Also locks and reads the charge, with the lane.
  fail: { statements: 11, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 }
}

it.live("workers send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { create } = yield* Generations
      const scheduler = yield* Scheduler.Scheduler
      const endAll = yield* makeEndAll
      const { claimed, claims: kinds } = yield* GenerationWorker.makeHandler({})
      const account = yield* openAccount({ credits: 100 })
      yield* Effect.asVoid(listen(account.id))
      for (const key of ["first", "second"]) yield* create(yield* request(account, { key }))
      const lease = yield* scheduler.takeLease({ id: "worker", worker: "test", kinds, slots: 2, ttl: "1 minute" })
      const claim = scheduler.claim({ lease, worker: "test", kinds, limit: 1 }).pipe(
        Effect.tap((jobs) => claimed!(jobs, "test")),
        atomically
      )
      const [first] = yield* claim
      let second = first
      const claimCost = yield* costOf(Effect.tap(claim, ([job]) =>
        Effect.sync(() => {
          second = job
        })))
      const completed = {
        _tag: "Complete",
        subject: subjectOf(first!),
        lease: first!,
        output,
        resultTtl: "1 hour"
      } as const
      const failed = { _tag: "Fail", subject: subjectOf(second!), lease: second!, failure } as const
      return {
        claim: claimCost,
        renewLease: yield* costOf(scheduler.renewLease({ lease, kinds, ttl: "1 minute" })),
        complete: yield* costOf(endAll([completed])),
        fail: yield* costOf(endAll([failed]))
      }
    }).pipe(Effect.scoped, Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, workerBounds)
  }).pipe(Effect.scoped))

const content = { key: "content", mime: "image/png", bytes: 1, sha256: "0".repeat(64) }

const output = { content, preview: null, thumb: null, poster: null }

const failure = { code: "upstream_error", message: "The model is not available.", reason: "provider" } as const

/**
 * Changes of plans. An account is locked before the lots of its credits, and these before its lane, which is locked last. Each waits
 * for what was read under the lock before it, since that decides on whether there is anything to lock.
 */
const planBounds = {
  // The first change also opens the lane, after it has found that there is none.
  setFirst: { statements: 11, roundTrips: 5, writesAfterLock: 4, writesAfterRead: 1 },
  setSameSlots: { statements: 6, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
  // Queues waiting jobs, and awaits which ones.
  setMoreSlots: { statements: 9, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  // Awaits the kinds of the queued jobs that get other places by the weight of the plan, since their workers are woken.
  remove: { statements: 7, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  stopRenewal: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  deposit: { statements: 6, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  // Also reads whether the period was paid, and locks and reads the lots of the account.
  subscribe: { statements: 12, roundTrips: 6, writesAfterLock: 5, writesAfterRead: 1 },
  // Also queues waiting jobs.
  raise: { statements: 14, roundTrips: 6, writesAfterLock: 5, writesAfterRead: 1 }
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
      const deposit = yield* costOf(accounts.deposit(id, { cents: 10 * priceCents, reference: "start" }))
      const subscribeCost = yield* costOf(subscribe(id, "credits", "pro"))
      const raise = yield* costOf(subscribe(id, "credits", "business"))
      return {
        setFirst,
        setSameSlots,
        setMoreSlots,
        remove,
        stopRenewal: yield* costOf(accounts.stopRenewal(id, "credits")),
        deposit,
        subscribe: subscribeCost,
        raise
      }
    }).pipe(Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, planBounds)
  }).pipe(Effect.scoped))

const uploadBounds = {
  create: { statements: 7, roundTrips: 4, writesAfterLock: 1, writesAfterRead: 1 },
  // The file is deleted after the commit.
  remove: { statements: 4, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 1 },
  // A job may read it.
  removeKept: { statements: 3, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 }
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
  reserve: { statements: 6, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 1 },
  start: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  // Ends the payment and makes the deposit. The payment names the account to lock.
  receive: { statements: 9, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
  receiveAgain: { statements: 4, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 }
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
