import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Cause, DateTime, Duration, Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { EndpointId } from "../src/Endpoint.ts"
import type { NewEvent } from "../src/Event.ts"
import { instance, makeAccount, refusalOf } from "../src/internal/contract/services.ts"
import { settlementOf } from "../src/internal/contract/world.ts"
import { SecretBox } from "../src/SecretBox.ts"
import { layer as layerWebhooks, Webhooks } from "../src/Webhooks.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { askedOf, surroundings } from "./ServiceFixture.ts"

/** The behaviour of `Webhooks` over every backend, besides the contract of the store. */
export const suite = <E>(name: string, backend: Layer.Layer<WebhookStore | UnitOfWork.UnitOfWork, E>) =>
  layer(layerWebhooks.pipe(Layer.provideMerge(Layer.merge(backend, surroundings))))(`Webhooks (${name})`, (it) => {
    it.effect("registers an endpoint and returns its secret once", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const types = ["order.paid", "order.sent", "order.paid"]
        const { endpoint, secret } = yield* webhooks.create(account, { url: "https://Example.COM/a b", types })
        assert.match(Redacted.value(secret), /^whsec_[0-9a-z]{52}$/)
        assert.strictEqual(endpoint.url, "https://example.com/a%20b")
        assert.deepStrictEqual(endpoint.types, ["order.paid", "order.sent"])
        assert.strictEqual(endpoint.status, "enabled")
        assert.deepStrictEqual(endpoint.secretCreatedAt, endpoint.createdAt)
        assert.deepStrictEqual(yield* webhooks.list(account), [endpoint])
        assert.deepStrictEqual(yield* webhooks.get(account, endpoint.id), endpoint)
        assert.notInclude(JSON.stringify(yield* webhooks.list(account)), "whsec")
        const again = yield* webhooks.create(account, { url: "https://example.com" })
        assert.notStrictEqual(Redacted.value(again.secret), Redacted.value(secret))
        assert.isNull(again.endpoint.types)
      }))

    it.effect("limits an account to five endpoints under concurrent requests", () =>
      Effect.gen(function*() {
        const processes = yield* Effect.forEach([1, 2, 3, 4], () => instance())
        const account = yield* makeAccount
        const host = `${account}.five.test`
        const created = yield* Effect.all(
          Array.from({ length: 20 }, (_, n) =>
            Effect.result(processes[n % 4]!.create(account, { url: `https://${host}/${n}` }))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(
          created.filter((result) =>
            result._tag === "Success"
          ).length,
          5
        )
        const [first] = yield* processes[0]!.list(account)
        const asked = askedOf(host).length
        const reason = yield* refusalOf(processes[0]!.create(account, { url: `https://${host}` }))
        assert.deepInclude(reason, { _tag: "TooManyEndpoints", endpointsMax: 5 })
        // The host is not resolved for an account with the maximum number of endpoints.
        assert.strictEqual(askedOf(host).length, asked)
        yield* processes[1]!.remove(account, first!.id)
        yield* processes[2]!.create(account, { url: `https://${host}` })
        assert.strictEqual((yield* processes[0]!.list(account)).length, 5)
      }))

    it.effect("rejects URLs that the guard rejects, and stores nothing", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const refused = yield* refusalOf(webhooks.create(account, { url: "https://private.test" }))
        assert.deepInclude(refused, { _tag: "AddressRefused", problem: "address" })
        assert.deepStrictEqual(yield* webhooks.list(account), [])
        const { endpoint } = yield* webhooks.create(account, { url: "https://example.com" })
        assert.deepInclude(
          yield* refusalOf(webhooks.update(account, endpoint.id, { url: "https://private.test", types: ["a"] })),
          { problem: "address" }
        )
        assert.deepStrictEqual(yield* webhooks.get(account, endpoint.id), endpoint)
      }))

    it.effect("rejects filters that are empty, too long or contain an invalid type", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const many = Array.from({ length: 33 }, (_, n) => `type.${n}`)
        const header = "order.paid\r\nX-Other: 1"
        for (const types of [[], many, [""], ["Order.Paid"], [header], ["a".repeat(65)], ["ok", "order paid"]]) {
          const reason = yield* refusalOf(webhooks.create(account, { url: "https://example.com", types }))
          assert.deepInclude(reason, { _tag: "TypesInvalid" })
        }
      }))

    it.effect("changes only the given fields of an endpoint", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const { endpoint } = yield* webhooks.create(account, { url: "https://example.com", types: ["order.paid"] })
        yield* webhooks.update(account, endpoint.id, { status: "disabled" })
        yield* webhooks.update(account, endpoint.id, { url: "https://example.org:8443/x" })
        const changed = yield* webhooks.update(account, endpoint.id, { types: null })
        assert.deepStrictEqual(changed, {
          ...endpoint,
          status: "disabled",
          url: "https://example.org:8443/x",
          types: null
        })
        assert.deepStrictEqual(yield* webhooks.update(account, endpoint.id, {}), changed)
        assert.deepStrictEqual(yield* webhooks.get(account, endpoint.id), changed)
      }))

    it.effect("signs with a new secret after a rotation, and with older ones during the overlap", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const { endpoint: { id }, secret: first } = yield* webhooks.create(account, { url: "https://example.com" })
        assert.deepStrictEqual(yield* signing(account, id), texts(first))
        yield* TestClock.adjust("1 minute")
        const { endpoint, secret: second } = yield* webhooks.rotate(account, id, "2 hours")
        assert.deepStrictEqual(endpoint.secretCreatedAt, yield* DateTime.now)
        assert.deepStrictEqual(yield* signing(account, id), texts(second, first))
        // A longer overlap does not extend the first secret.
        const { secret: third } = yield* webhooks.rotate(account, id, "24 hours")
        assert.deepStrictEqual(yield* signing(account, id), texts(third, second, first))
        yield* TestClock.adjust("7199999 millis")
        assert.deepStrictEqual(yield* signing(account, id), texts(third, second, first))
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* signing(account, id), texts(third, second))
        // A shorter overlap shortens the second secret.
        const { secret: fourth } = yield* webhooks.rotate(account, id, "1 hour")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* signing(account, id), texts(fourth))
        const { secret: fifth } = yield* webhooks.rotate(account, id)
        assert.deepStrictEqual(yield* signing(account, id), texts(fifth))
      }))

    it.effect("rejects an overlap of more than 24 hours, and more than five active secrets", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
        for (const overlap of [Duration.millis(86_400_001), Duration.millis(-1), Duration.infinity]) {
          const reason = yield* refusalOf(webhooks.rotate(account, id, overlap))
          assert.deepInclude(reason, { _tag: "OverlapInvalid", secondsMax: 86_400 })
        }
        for (const _ of [2, 3, 4, 5]) yield* webhooks.rotate(account, id, "24 hours")
        const five = yield* signing(account, id)
        assert.strictEqual(five.length, 5)
        const reason = yield* refusalOf(webhooks.rotate(account, id, "1 second"))
        assert.deepInclude(reason, { _tag: "TooManySecrets", secretsMax: 5 })
        assert.deepStrictEqual(yield* signing(account, id), five)
        const { secret } = yield* webhooks.rotate(account, id)
        assert.deepStrictEqual(yield* signing(account, id), texts(secret))
      }))

    it.effect("dies if an event has an invalid type or is too large", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
        const good = event(account, "order.paid", "x".repeat(1024 ** 2 - 2))
        yield* webhooks.publish([good])
        const wrong = [
          event(account, "order paid"),
          event(account, ""),
          event(account, "order.paid", "x".repeat(1024 ** 2 - 1)),
          event(account, "order.paid", "ü".repeat(512 * 1024))
        ]
        for (const one of wrong) {
          const exit = yield* Effect.exit(webhooks.publish([good, one]))
          assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) && !Cause.hasFails(exit.cause), one.type)
        }
        assert.strictEqual((yield* webhooks.deliveries(account, id, { limit: 10 })).length, 1)
      }))

    it.effect("sends a test event regardless of the filter, unless the endpoint is disabled", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const store = yield* WebhookStore
        const account = yield* makeAccount
        const { endpoint } = yield* webhooks.create(account, { url: "https://example.com", types: ["order.paid"] })
        const beside = yield* webhooks.create(account, { url: "https://example.com" })
        const delivery = yield* webhooks.test(account, endpoint.id)
        assert.deepInclude(delivery, { type: "webhook.test", status: "pending", endpoint: endpoint.id, failedSends: 0 })
        const now = yield* DateTime.now
        const [claimed] = yield* store.claim([{ endpoint: endpoint.id, limit: 1 }], now, now)
        assert.deepInclude(claimed?.event, { id: delivery.event, account, data: {} })
        assert.deepStrictEqual(yield* webhooks.deliveries(account, beside.endpoint.id, { limit: 10 }), [])
        yield* webhooks.update(account, endpoint.id, { status: "disabled" })
        assert.deepInclude(yield* refusalOf(webhooks.test(account, endpoint.id)), { _tag: "EndpointDisabled" })
      }))

    it.effect("keeps 20 lines of each log, ended deliveries for 7 days and pending ones for 3", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const account = yield* makeAccount
        // The rows of other tests are swept first.
        for (const _ of ["given up", "deleted"]) {
          yield* TestClock.adjust("8 days")
          while ((yield* webhooks.sweep(1_000)) > 0);
        }
        const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
        for (let n = 0; n < 22; n++) {
          yield* webhooks.test(account, id)
          yield* fail(id)
          yield* TestClock.adjust("1 second")
        }
        assert.strictEqual((yield* webhooks.sends(account, id)).length, 20)
        assert.strictEqual(yield* webhooks.sweep(1_000), 2)
        const { id: pending } = yield* webhooks.test(account, id)
        const { id: resent } = (yield* webhooks.deliveries(account, id, { limit: 2 }))[1]!
        yield* TestClock.adjust("3 days")
        assert.strictEqual(yield* webhooks.sweep(1_000), 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* webhooks.sweep(1_000), 1)
        assert.deepInclude(yield* newest(account, id), { id: pending, status: "failed" })
        yield* webhooks.resend(account, resent)
        yield* fail(id)
        yield* TestClock.adjust("4 days")
        // The resent delivery is kept longer than the others of its time.
        assert.strictEqual(yield* webhooks.sweep(5), 5 + 1)
        while ((yield* webhooks.sweep(1_000)) > 0);
        const kept = yield* webhooks.deliveries(account, id, { limit: 100 })
        assert.deepStrictEqual(kept.map((delivery) => delivery.id), [resent])
        assert.deepInclude(yield* refusalOf(webhooks.resend(account, pending)), { _tag: "DeliveryNotFound" })
        assert.strictEqual((yield* webhooks.sends(account, id)).length, 20)
      }))

    it.effect("rejects ids of other accounts, removed endpoints and unknown ids", () =>
      Effect.gen(function*() {
        const webhooks = yield* Webhooks
        const [account, other] = [yield* makeAccount, yield* makeAccount]
        const { endpoint } = yield* webhooks.create(account, { url: "https://example.com" })
        const { id: delivery } = yield* webhooks.test(account, endpoint.id)
        yield* fail(endpoint.id)
        const host = `${other}.foreign.test`
        const all = (account: string, id: EndpointId) => [
          webhooks.get(account, id),
          webhooks.update(account, id, { status: "disabled" }),
          webhooks.update(account, id, { url: `https://${host}` }),
          webhooks.rotate(account, id),
          webhooks.remove(account, id),
          webhooks.test(account, id),
          webhooks.deliveries(account, id, { limit: 10 }),
          webhooks.sends(account, id)
        ]
        const assertHidden = Effect.fnUntraced(function*(account: string) {
          for (const operation of all(account, endpoint.id)) {
            assert.deepInclude(yield* refusalOf(operation), { _tag: "EndpointNotFound", endpoint: endpoint.id })
          }
          assert.deepInclude(yield* refusalOf(webhooks.resend(account, delivery)), {
            _tag: "DeliveryNotFound",
            delivery
          })
        })
        yield* assertHidden(other)
        assert.deepStrictEqual(askedOf(host), [])
        assert.deepStrictEqual(yield* webhooks.get(account, endpoint.id), endpoint)
        yield* webhooks.remove(account, endpoint.id)
        yield* assertHidden(account)
        assert.deepStrictEqual(yield* webhooks.list(account), [])
      }))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const event = (account: string, type: string, data: NewEvent["data"] = {}): NewEvent => ({ account, type, data })

/** The secrets that a send would use now. */
const signing = Effect.fnUntraced(function*(account: string, id: EndpointId) {
  const webhooks = yield* Webhooks
  const store = yield* WebhookStore
  const box = yield* SecretBox
  yield* webhooks.test(account, id)
  const now = yield* DateTime.now
  const [claimed] = yield* store.claim([{ endpoint: id, limit: 1 }], now, DateTime.add(now, { days: 9 }))
  return yield* Effect.forEach(claimed!.secrets, ({ sealed }) => Effect.map(box.open(id, sealed), Redacted.value))
})

/** Compares secrets as texts, because assertions treat all redacted values as equal. */
const texts = (...secrets: ReadonlyArray<Redacted.Redacted>) => secrets.map((secret) => Redacted.value(secret))

/** Fails the endpoint's due delivery. */
const fail = Effect.fnUntraced(function*(id: EndpointId) {
  const store = yield* WebhookStore
  const now = yield* DateTime.now
  const claimed = yield* store.claim([{ endpoint: id, limit: 1 }], now, now)
  yield* store.settle(claimed.map((one) => settlementOf(one, { _tag: "Failed" }, now)))
  return claimed
})

const newest = Effect.fnUntraced(function*(account: string, id: EndpointId) {
  const { deliveries } = yield* Webhooks
  return (yield* deliveries(account, id, { limit: 1 }))[0]
})
