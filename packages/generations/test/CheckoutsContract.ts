/** Payments of customers for their balance. */
import { assert, layer } from "@effect/vitest"
import { Accounts } from "@kinora/accounts/Accounts"
import type { PaymentId } from "@kinora/payments/Payment"
import {
  type CheckoutOutcome,
  type CheckoutState,
  PaymentProvider,
  SignatureRejected
} from "@kinora/payments/PaymentProvider"
import * as Payments from "@kinora/payments/Payments"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, Effect, Exit, Layer, Logger, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { AccountDeletion } from "../src/AccountDeletion.ts"
import * as Checkouts from "../src/Checkouts.ts"
import type { layerMemory } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const urls = { successUrl: "https://shop.test/done", cancelUrl: "https://shop.test/back" }
const referenceOf = (id: PaymentId) => `cs_${id}`

/** A provider that opens every checkout, whose webhooks are JSON with the signature `valid`, and which tests read states from. */
const layerProvider = (states: ReadonlyMap<string, CheckoutState>) =>
  Layer.succeed(
    PaymentProvider,
    PaymentProvider.of({
      name: "stripe",
      open: Effect.fnUntraced(function*({ payment }) {
        const expiresAt = DateTime.add(yield* DateTime.now, { hours: 24 })
        return { reference: referenceOf(payment), url: "https://pay.test", expiresAt }
      }),
      read: (reference) => Effect.sync(() => states.get(reference) ?? { _tag: "Open" }),
      verify: (body, signature) =>
        signature === "valid"
          ? Effect.succeed({ _tag: "Ended", outcome: JSON.parse(new TextDecoder().decode(body)) as CheckoutOutcome })
          : Effect.fail(new SignatureRejected())
    })
  )

/** A host over the stores of the suite. */
export const makeHost = (states: ReadonlyMap<string, CheckoutState> = new Map()) =>
  Layer.build(
    Layer.fresh(Checkouts.layer).pipe(Layer.provide(Payments.layerWith({}).pipe(Layer.provide(layerProvider(states)))))
  ).pipe(Effect.map(Context.get(Checkouts.Checkouts)))

type Host = Checkouts.Checkouts["Service"]

/** Opens an account. */
export const openAccount = Effect.gen(function*() {
  const accounts = yield* Accounts
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  return (yield* accounts.create({ email: `${name}@example.com` })).id
})

/** Opens a checkout of 2,000 cents. */
export const open = Effect.fnUntraced(function*(host: Host, account: Effect.Success<typeof openAccount>) {
  return (yield* host.start(yield* host.reserve(account, 2_000), urls)).payment
})

/** The outcome of a payment, by default paid in full. */
export const outcomeOf = (id: PaymentId, changes: Partial<CheckoutOutcome> = {}): CheckoutOutcome => ({
  reference: referenceOf(id),
  payment: id,
  status: "paid",
  amount: 2_000,
  currency: "usd",
  ...changes
})

/** Receives a webhook. */
export const receive = (host: Host, outcome: CheckoutOutcome) =>
  host.receive(new TextEncoder().encode(JSON.stringify(outcome)), "valid")

/** Returns the balance, the references of the deposits, and the payments as status and whether they are credited. */
export const stateOf = Effect.fnUntraced(function*(host: Host, account: Effect.Success<typeof openAccount>) {
  const accounts = yield* Accounts
  const { balanceCents } = yield* accounts.get(account)
  const movements = yield* accounts.listMovements({ account, limit: 10 })
  const payments = yield* host.list({ account, limit: 10 })
  return {
    balance: balanceCents,
    deposits: movements.map(({ reference }) => reference),
    payments: payments.map(({ isCredited, status }) => `${status} ${isCredited ? "credited" : "not credited"}`)
  }
})

/** Runs the effect and returns the messages at the level of errors. */
const errorsOf = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel === "Error") messages.push(String(Array.isArray(message) ? message[0] : message))
  })
  yield* Effect.provide(effect, Logger.layer([logger]))
  return messages
})

/** `callers`: number of concurrent calls. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>, callers: number) => {
  layer(services)(`Checkouts (${name})`, (it) => {
    it.effect("add to the balance once, however many webhooks and sweeps report the payment at the same time", () =>
      Effect.gen(function*() {
        const states = new Map<string, CheckoutState>()
        const hosts = [yield* makeHost(states), yield* makeHost(states)]
        const account = yield* openAccount
        const { id } = yield* open(hosts[0]!, account)
        const outcome = outcomeOf(id)
        states.set(referenceOf(id), { _tag: "Ended", outcome })
        yield* TestClock.adjust("10 minutes")
        const webhooks = Array.from({ length: callers }, (_, index) => receive(hosts[index % 2]!, outcome))
        const sweeps = hosts.map(({ reconcile }) => reconcile(100))
        yield* Effect.all([...webhooks, ...sweeps], { concurrency: "unbounded", discard: true })
        assert.deepStrictEqual(yield* stateOf(hosts[1]!, account), {
          balance: 2_000,
          deposits: [`stripe:${referenceOf(id)}`],
          payments: ["paid credited"]
        })
      }))

    it.effect("add to the balance if the webhook is missing", () =>
      Effect.gen(function*() {
        const states = new Map<string, CheckoutState>()
        const host = yield* makeHost(states)
        const [account, other] = [yield* openAccount, yield* openAccount]
        const [{ id }, expiring] = [yield* open(host, account), yield* open(host, other)]
        yield* TestClock.adjust("10 minutes")
        yield* host.reconcile(100)
        assert.deepStrictEqual((yield* stateOf(host, account)).payments, ["open not credited"])
        states.set(referenceOf(id), { _tag: "Ended", outcome: outcomeOf(id) })
        const expired = outcomeOf(expiring.id, { status: "expired" })
        states.set(referenceOf(expiring.id), { _tag: "Ended", outcome: expired })
        yield* TestClock.adjust("10 minutes")
        yield* host.reconcile(100)
        assert.strictEqual((yield* stateOf(host, account)).balance, 2_000)
        assert.deepStrictEqual(yield* stateOf(host, other), {
          balance: 0,
          deposits: [],
          payments: ["expired not credited"]
        })
      }))

    it.effect("add to the balance also if the payment expired before, and ignore events after it", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* openAccount
        const { id } = yield* open(host, account)
        for (const status of ["expired", "paid", "failed", "expired", "paid"] as const) {
          yield* receive(host, outcomeOf(id, { status }))
        }
        const state = yield* stateOf(host, account)
        assert.strictEqual(state.balance, 2_000)
        assert.deepStrictEqual(state.payments, ["paid credited"])
      }))

    it.effect("add nothing and log an error if the amount or the currency differs", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const changes of [{ amount: 200_000 }, { currency: "jpy" }]) {
          const account = yield* openAccount
          const { id } = yield* open(host, account)
          assert.deepStrictEqual(yield* errorsOf(receive(host, outcomeOf(id, changes))), [
            "A payment differs from what was asked for: refund it at the provider"
          ])
          assert.deepStrictEqual(yield* stateOf(host, account), {
            balance: 0,
            deposits: [],
            payments: ["paid not credited"]
          })
        }
      }))

    it.effect("of a deleted account stay paid without a deposit, and log an error once", () =>
      Effect.gen(function*() {
        const accounts = yield* Accounts
        const deletion = yield* AccountDeletion
        const host = yield* makeHost()
        const account = yield* openAccount
        const { id } = yield* open(host, account)
        yield* deletion.delete(account)
        const webhook = receive(host, outcomeOf(id))
        assert.deepStrictEqual(yield* errorsOf(Effect.andThen(webhook, webhook)), [
          "A payment cannot be credited: refund it at the provider"
        ])
        // Its operator decides between a refund and a deposit, so a webhook that is repeated later makes none.
        yield* accounts.restore(account)
        yield* webhook
        assert.deepStrictEqual(yield* stateOf(host, account), {
          balance: 0,
          deposits: [],
          payments: ["paid not credited"]
        })
      }))

    it.effect("are rejected for accounts that are deleted or unknown", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const deletion = yield* AccountDeletion
        const account = yield* openAccount
        yield* deletion.delete(account)
        const error = yield* Effect.flip(host.reserve(account, 2_000))
        assert.strictEqual(error._tag === "AccountsError" ? error.reason._tag : error._tag, "AccountDeleted")
        assert.deepStrictEqual(yield* host.list({ account, limit: 10 }), [])
      }))

    it.effect("change nothing for checkouts of other programs and for forged webhooks", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* openAccount
        const { id } = yield* open(host, account)
        yield* receive(host, outcomeOf(id, { payment: undefined }))
        yield* receive(host, outcomeOf(id, { reference: "cs_other" }))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(host.receive(new Uint8Array(), "wrong"))))
        assert.deepStrictEqual((yield* stateOf(host, account)).payments, ["open not credited"])
      }))

    it.effect("are credited once if the process crashes at any call in between", () =>
      Effect.gen(function*() {
        const accounts = yield* Accounts
        const host = yield* makeHost()
        for (const isMade of [false, true]) {
          const account = yield* openAccount
          const { id } = yield* open(host, account)
          const dying = yield* makeHost().pipe(Effect.provideService(Accounts, {
            ...accounts,
            deposit: (id, options) =>
              Effect.andThen(isMade ? accounts.deposit(id, options) : Effect.void, Effect.die(new Error("crash")))
          }))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(receive(dying, outcomeOf(id)))))
          assert.deepStrictEqual(yield* stateOf(host, account), {
            balance: 0,
            deposits: [],
            payments: ["open not credited"]
          })
          yield* receive(host, outcomeOf(id))
          assert.strictEqual((yield* stateOf(host, account)).balance, 2_000)
        }
      }))

    it.effect("whose start was lost in a crash fail at the first look, and are credited if they were paid anyway", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* openAccount
        const { id, providerReference } = yield* host.reserve(account, 2_000)
        assert.deepStrictEqual(providerReference, Option.none())
        yield* TestClock.adjust("10 minutes")
        yield* host.reconcile(100)
        assert.deepStrictEqual((yield* stateOf(host, account)).payments, ["failed not credited"])
        yield* receive(host, outcomeOf(id))
        assert.strictEqual((yield* stateOf(host, account)).balance, 2_000)
      }))
  })
}
