import { assert, layer } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import * as SkewedClock from "@kinora/testkit/SkewedClock"
import { Context, DateTime, Duration, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { PaymentId } from "../src/Payment.ts"
import { layerNone, PaymentProvider, PaymentsDisabled, ProviderUnavailable } from "../src/PaymentProvider.ts"
import * as Payments from "../src/Payments.ts"
import type { PaymentStore } from "../src/PaymentStore.ts"
import { makeHost, open, outcomeOf, reasonOf, referenceOf, type Script, urls } from "./Hosts.ts"

const credited = { isCredited: true }

/** The contract of payments, for every store. `callers`: number of concurrent calls. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<PaymentStore | UnitOfWork.UnitOfWork, E>,
  callers: number
) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Payments (${name})`, (it) => {
    it.effect("opens a payment that every host can read", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const reserved = yield* here.reserve({ account: "acct-open", cents: 2_000 })
        assert.deepStrictEqual(yield* there.get(reserved.id), reserved)
        const { payment, url } = yield* here.start(reserved, urls)
        assert.strictEqual(url, `https://pay.test/${payment.id}`)
        assert.deepStrictEqual(payment, {
          ...reserved,
          providerReference: Option.some(referenceOf(payment.id)),
          expiresAt: Option.some(DateTime.add(reserved.createdAt, { hours: 24 }))
        })
        assert.deepStrictEqual(yield* there.get(payment.id), payment)
        assert.strictEqual(yield* reasonOf(here.get(yield* PaymentId.make)), "PaymentNotFound")
      }))

    it.effect("rejects amounts out of bounds", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ centsMin: 200, centsMax: 300 })
        for (const cents of [199, 301, 200.5, Number.NaN, -200]) {
          assert.strictEqual(yield* reasonOf(host.reserve({ account: "acct-1", cents })), "PaymentAmountInvalid")
        }
        const defaults = yield* makeHost()
        for (const cents of [99, 1_000_001]) {
          assert.strictEqual(yield* reasonOf(defaults.reserve({ account: "acct-1", cents })), "PaymentAmountInvalid")
        }
        for (const cents of [100, 1_000_000]) yield* defaults.reserve({ account: "acct-amounts", cents })
      }))

    it.effect("limits the open payments of an account, also with concurrent calls", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ openMax: 3 })
        const exits = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.exit(open(host, "acct-limit"))),
          { concurrency: "unbounded" }
        )
        const opened = exits.filter(Exit.isSuccess)
        assert.strictEqual(opened.length, 3)
        assert.strictEqual(yield* reasonOf(open(host, "acct-limit")), "TooManyPayments")
        yield* open(host, "acct-limit-other")
        yield* host.settle(outcomeOf(opened[0]!.value.id), credited)
        yield* open(host, "acct-limit")
      }))

    it.effect("fails a payment whose checkout the provider does not open", () =>
      Effect.gen(function*() {
        const script: Partial<Script> = { opening: new ProviderUnavailable({ provider: "stripe", problem: "test" }) }
        const host = yield* makeHost({}, script)
        const payment = yield* host.reserve({ account: "acct-not-opened", cents: 2_000 })
        assert.strictEqual(yield* reasonOf(host.start(payment, urls)), "ProviderUnavailable")
        const { settledAt, status } = yield* host.get(payment.id)
        assert.strictEqual(status, "failed")
        assert.deepStrictEqual(settledAt, Option.some(yield* DateTime.now))
      }))

    it.effect("settles a payment once, however many webhooks arrive at the same time", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost()]
        const payment = yield* open(hosts[0]!, "acct-once")
        const decisions = yield* Effect.all(
          Array.from({ length: callers }, (_, index) => hosts[index % 2]!.settle(outcomeOf(payment.id), credited)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(decisions.filter(({ _tag }) => _tag !== "Unchanged").map(({ _tag }) => _tag), ["Paid"])
        const paid = yield* hosts[1]!.get(payment.id)
        assert.deepStrictEqual(paid, {
          ...payment,
          status: "paid",
          isCredited: true,
          settledAt: Option.some(yield* DateTime.now)
        })
      }))

    it.effect("settles nothing if the unit of the caller fails", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const host = yield* makeHost()
        const payment = yield* open(host, "acct-rollback")
        const run = atomically(Effect.andThen(host.settle(outcomeOf(payment.id), credited), Effect.fail("refused")))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(run)))
        assert.deepStrictEqual(yield* host.get(payment.id), payment)
        assert.strictEqual((yield* host.settle(outcomeOf(payment.id), credited))._tag, "Paid")
      }))

    it.effect("counts money that arrives after the checkout had expired or failed, and keeps a paid payment paid", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const status of ["expired", "failed"] as const) {
          const { id } = yield* open(host, `acct-late-${status}`)
          const settle = (changes: Parameters<typeof outcomeOf>[1]) =>
            Effect.map(host.settle(outcomeOf(id, changes), credited), ({ _tag }) => _tag)
          assert.strictEqual(yield* settle({ status }), "Ended")
          assert.strictEqual((yield* host.get(id)).status, status)
          assert.strictEqual(yield* settle({ status }), "Unchanged")
          assert.strictEqual(yield* settle({}), "Paid")
          assert.strictEqual(yield* settle({ status }), "Unchanged")
          assert.strictEqual((yield* host.get(id)).status, "paid")
        }
      }))

    it.effect("credits nothing if the amount or the currency differs", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const changes of [{ amount: 1_999 }, { amount: 2_001 }, { currency: "eur" }]) {
          const { id } = yield* open(host, "acct-mismatch")
          assert.strictEqual((yield* host.settle(outcomeOf(id, changes), credited))._tag, "Mismatched")
          const { isCredited, status } = yield* host.get(id)
          assert.deepStrictEqual([status, isCredited], ["paid", false])
        }
      }))

    it.effect("does not know checkouts of other programs", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* open(host, "acct-unknown")
        const outcomes = [
          outcomeOf(id, { payment: undefined }),
          outcomeOf(id, { payment: yield* PaymentId.make }),
          outcomeOf(id, { reference: "cs_other" })
        ]
        for (const outcome of outcomes) {
          assert.strictEqual((yield* host.settle(outcome, credited))._tag, "Unknown")
        }
        assert.strictEqual((yield* host.get(id)).status, "open")
      }))

    it.effect("records the checkout of a payment that was paid before its start was saved", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { id } = yield* host.reserve({ account: "acct-crash", cents: 2_000 })
        assert.strictEqual((yield* host.settle(outcomeOf(id), credited))._tag, "Paid")
        assert.deepStrictEqual((yield* host.get(id)).providerReference, Option.some(referenceOf(id)))
      }))

    it.effect("lists the payments of an account, newest first, page by page", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        // Ids sort by time.
        yield* TestClock.setTime(Date.UTC(2030, 0))
        const ids: Array<PaymentId> = []
        for (let index = 0; index < 3; index++) {
          ids.unshift((yield* open(host, "acct-list")).id)
          yield* TestClock.adjust("1 second")
        }
        yield* open(host, "acct-list-other")
        const list = (after?: PaymentId) =>
          Effect.map(host.list({ account: "acct-list", after, limit: 2 }), (page) => page.map(({ id }) => id))
        assert.deepStrictEqual(yield* list(), ids.slice(0, 2))
        assert.deepStrictEqual(yield* list(ids[1]), ids.slice(2))
        assert.deepStrictEqual(yield* list(ids[2]), [])
      }))

    it.effect("claims an open payment once per pause, which doubles up to 6 hours", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2040, 0))
        const hosts = [yield* makeHost(), yield* makeHost()]
        const host = hosts[0]!
        // Those of the other tests.
        yield* Effect.repeat(host.claimDue(1_000), { while: (claimed) => claimed.length > 0 })
        const { id } = yield* open(host, "acct-due")
        const ended = yield* open(host, "acct-due")
        yield* host.settle(outcomeOf(ended.id), credited)
        const claimed = Effect.map(
          Effect.all(hosts.map(({ claimDue }) => claimDue(1_000)), { concurrency: "unbounded" }),
          (pages) => pages.flat().filter((payment) => payment.account === "acct-due").map((payment) => payment.id)
        )
        for (const minutes of [10, 10, 20, 40, 80, 160, 320, 360, 360]) {
          yield* TestClock.adjust(Duration.millis(minutes * 60_000 - 1))
          assert.deepStrictEqual(yield* claimed, [], `before ${minutes} minutes`)
          yield* TestClock.adjust("1 millis")
          assert.deepStrictEqual(yield* claimed, [id], `after ${minutes} minutes`)
          assert.deepStrictEqual(yield* claimed, [])
        }
      }))

    it.effect("pauses by the clock of the storage, also between hosts with other clocks", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2060, 0))
        const onHost = (millis: number) => SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
        const host = yield* makeHost()
        yield* Effect.repeat(host.claimDue(1_000), { while: (claimed) => claimed.length > 0 })
        const { id } = yield* onHost(-120_000)(open(host, "acct-skew"))
        const claimed = (ahead: number) =>
          Effect.map(
            onHost(ahead)(host.claimDue(1_000)),
            (page) => page.filter(({ account }) => account === "acct-skew").map(({ id }) => id)
          )
        for (const minutes of [10, 10, 20]) {
          yield* TestClock.adjust(Duration.millis(minutes * 60_000 - 1))
          assert.deepStrictEqual(yield* claimed(120_000), [], `before ${minutes} minutes`)
          yield* TestClock.adjust("1 millis")
          assert.deepStrictEqual(yield* claimed(-120_000), [id], `after ${minutes} minutes`)
        }
      }))

    it.effect("claims at most the limit, the longest due first", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2050, 0))
        const host = yield* makeHost()
        yield* Effect.repeat(host.claimDue(1_000), { while: (claimed) => claimed.length > 0 })
        const ids: Array<PaymentId> = []
        for (let index = 0; index < 3; index++) {
          ids.push((yield* open(host, "acct-due-limit")).id)
          yield* TestClock.adjust("1 second")
        }
        yield* TestClock.adjust("10 minutes")
        const claim = Effect.map(
          host.claimDue(2),
          (page) => page.filter(({ account }) => account === "acct-due-limit").map(({ id }) => id)
        )
        assert.deepStrictEqual(yield* claim, ids.slice(0, 2))
        assert.deepStrictEqual(yield* claim, ids.slice(2))
      }))

    it.effect("reads the outcome of a payment at the provider", () =>
      Effect.gen(function*() {
        const script: { -readonly [Key in keyof Script]?: Script[Key] } = {}
        const host = yield* makeHost({}, script)
        const payment = yield* open(host, "acct-look")
        const look = Effect.map(host.look(payment), Option.map(({ status }) => status))
        assert.deepStrictEqual(yield* look, Option.none())
        script.state = { _tag: "Ended", outcome: outcomeOf(payment.id) }
        assert.deepStrictEqual(yield* look, Option.some("paid"))
        script.state = { _tag: "Unknown" }
        assert.deepStrictEqual(yield* look, Option.none())
        yield* TestClock.adjust("24 hours")
        assert.deepStrictEqual(yield* look, Option.none())
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* look, Option.some("expired"))
        const reserved = yield* host.reserve({ account: "acct-look", cents: 2_000 })
        assert.deepStrictEqual(Option.map(yield* host.look(reserved), ({ status }) => status), Option.some("failed"))
      }))

    it.effect("deletes payments that ended before the retention, in sets", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2060, 0))
        const host = yield* makeHost()
        yield* host.deleteSettled("1 hour", 1_000)
        const kept = yield* open(host, "acct-retention")
        for (let index = 0; index < 3; index++) {
          yield* host.settle(outcomeOf((yield* open(host, "acct-retention")).id), credited)
        }
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* host.deleteSettled("1 hour", 10), 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* host.deleteSettled("1 hour", 2), 2)
        assert.strictEqual(yield* host.deleteSettled("1 hour", 2), 1)
        assert.deepStrictEqual(yield* host.list({ account: "acct-retention", limit: 10 }), [kept])
      }))

    it.effect("opens and claims nothing without a provider", () =>
      Effect.gen(function*() {
        const context = yield* Layer.build(Payments.layerWith({}).pipe(Layer.provideMerge(layerNone)))
        const host = Context.get(context, Payments.Payments)
        const error = yield* Effect.flip(host.reserve({ account: "acct-none", cents: 2_000 }))
        assert.include(error.message, "Book a deposit by hand")
        assert.strictEqual(yield* reasonOf(host.reserve({ account: "acct-none", cents: 2_000 })), "PaymentsDisabled")
        assert.deepStrictEqual(yield* host.claimDue(10), [])
        const provider = Context.get(context, PaymentProvider)
        assert.deepStrictEqual(yield* Effect.flip(provider.verify(new Uint8Array(), "")), new PaymentsDisabled())
      }))
  })
