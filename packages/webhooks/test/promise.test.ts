/** Webhooks of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import { Webhook } from "@kinora/webhook-signing"
import { Webhook as StandardWebhook } from "standardwebhooks"
import {
  AddressRefusedError,
  createWebhooks,
  DeliveryNotFoundError,
  DeliveryPendingError,
  EndpointDisabledError,
  EndpointNotFoundError,
  OverlapInvalidError,
  TooManyEndpointsError,
  TooManySecretsError,
  TypesInvalidError
} from "../src/promise.ts"
import * as PromiseReceiver from "./PromiseReceiver.ts"

const keys = ["a key of at least thirty-two bytes"] as const
const account = "ada"

it("sends published events with a signature, and lists endpoints and deliveries with dates", async () => {
  await using receiver = await PromiseReceiver.open()
  await using webhooks = await createWebhooks({ memory: true, keys, guard: { allowPrivate: true } })
  const { endpoint, secret } = await webhooks.create({ account, url: receiver.url, types: ["parcel.shipped"] })
  assert.instanceOf(endpoint.createdAt, Date)
  assert.match(secret, /^whsec_/)
  await webhooks.publishAll([
    { account, type: "parcel.lost", data: null },
    { account, type: "parcel.shipped", data: { parcel: "P-1" }, subject: "P-1" }
  ])
  const sender = await webhooks.deliver({ complete: async ({ createdAt, data }) => [data, createdAt.getTime() > 0] })
  await receiver.until(1)
  await sender.close()
  const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]]
  const { event } = await Webhook.verify({ body, headers, secret })
  assert.deepInclude(event, { type: "parcel.shipped", data: [{ parcel: "P-1" }, true] })
  const delivery = (await webhooks.deliveries({ account, endpoint: endpoint.id }))[0]!
  assert.deepInclude(delivery, { status: "delivered", subject: "P-1", failedSends: 0, dueAt: null })
  assert.deepStrictEqual((await webhooks.history({ account, subject: "P-1" })).deliveries, [delivery])
  const [send] = await webhooks.sends({ account, endpoint: endpoint.id })
  assert.deepInclude(send, { delivery: delivery.id, httpStatus: 204, reason: "ok" })
  const published = await webhooks.event({ account, endpoint: endpoint.id, delivery: delivery.id })
  assert.deepInclude(published, { type: "parcel.shipped", data: { parcel: "P-1" } })
  assert.deepStrictEqual(await webhooks.deliveries({ account, endpoint: endpoint.id, before: delivery.id }), [])
})

it("signs as Standard Webhooks, in Stripe's format, or in both, with every active secret", async () => {
  await using receiver = await PromiseReceiver.open()
  await using webhooks = await createWebhooks({ memory: true, keys, guard: { allowPrivate: true } })
  const { endpoint, secret: old } = await webhooks.create({ account, url: receiver.url })
  const { secret } = await webhooks.rotate({ account, endpoint: endpoint.id, overlap: "1 hour" })
  for (const [sent, signatureFormat] of (["standard", "both", undefined] as const).entries()) {
    const sender = await webhooks.deliver({ signatureFormat })
    const { id } = await webhooks.test({ account, endpoint: endpoint.id })
    await receiver.until(sent + 1)
    await sender.close()
    const { body, headers } = receiver.received[sent]!
    const isStandard = signatureFormat !== undefined
    assert.strictEqual(headers["webhook-id"], isStandard ? id : undefined)
    for (const known of [secret, old]) {
      const verify = () => new StandardWebhook(known).verify(body, headers as Record<string, string>)
      if (isStandard) assert.deepInclude(verify(), { id, type: "webhook.test" })
      else assert.throws(verify)
      const verified = await Webhook.verify({ body, headers, secret: known }).then(({ event }) => event.id, reasonOf)
      assert.strictEqual(verified, signatureFormat === "standard" ? "missing_header" : id)
    }
  }
})

it("sends to an allowed network only, and rejects a list with an invalid one", async () => {
  await using receiver = await PromiseReceiver.open()
  const guard = { allowedNetworks: ["10.20.0.0/16", "127.0.0.1"] }
  await using webhooks = await createWebhooks({ memory: true, keys, guard })
  const { endpoint } = await webhooks.create({ account, url: receiver.url })
  const sender = await webhooks.deliver()
  await webhooks.test({ account, endpoint: endpoint.id })
  await receiver.until(1)
  await sender.close()
  const refused = await webhooks.create({ account, url: "https://10.21.0.1/" }).catch((error: unknown) => error)
  assert.instanceOf(refused, AddressRefusedError)
  const invalid = createWebhooks({ memory: true, keys, guard: { allowedNetworks: ["10.20.0.1/16"] } })
  assert.match(String(await invalid.catch((error: unknown) => error)), /"10\.20\.0\.1\/16" has bits after its prefix/)
})

it("changes and removes endpoints, and rotates their secrets", async () => {
  await using webhooks = await createWebhooks({ memory: true, keys, guard: { allowPrivate: true } })
  const { endpoint, secret } = await webhooks.create({ account, url: "http://127.0.0.1/hooks" })
  const call = { account, endpoint: endpoint.id }
  assert.deepInclude(await webhooks.update({ ...call, status: "disabled" }), { status: "disabled", types: null })
  assert.deepInclude(await webhooks.get(call), { id: endpoint.id, status: "disabled" })
  assert.notStrictEqual((await webhooks.rotate({ ...call, overlap: "1 hour" })).secret, secret)
  assert.deepStrictEqual(
    await webhooks.resendFailed({ ...call, since: new Date(0) }).catch(codeOf),
    "endpoint_disabled"
  )
  assert.strictEqual(await webhooks.reseal({ limit: 10 }), 0)
  await webhooks.remove(call)
  assert.deepStrictEqual(await webhooks.list({ account }), [])
})

it("throws a typed error for each refusal", async () => {
  const limits = { endpointsMax: 1, secretsMax: 1 }
  await using webhooks = await createWebhooks({ memory: true, keys, guard: { allowPrivate: true }, ...limits })
  await using guarded = await createWebhooks({ memory: true, keys })
  const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error)
  const url = "http://127.0.0.1/hooks"
  const blocked = await refusal(guarded.create({ account, url: "https://127.0.0.1/hooks" }))
  assert.instanceOf(blocked, AddressRefusedError)
  assert.deepInclude(blocked, { code: "address_refused", problem: "address" })
  assert.instanceOf(await refusal(webhooks.create({ account, url, types: ["No"] })), TypesInvalidError)
  const { endpoint } = await webhooks.create({ account, url })
  const call = { account, endpoint: endpoint.id }
  const tooMany = await refusal(webhooks.create({ account, url }))
  assert.instanceOf(tooMany, TooManyEndpointsError)
  assert.deepInclude(tooMany, { code: "too_many_endpoints", endpointsMax: 1 })
  assert.instanceOf(await refusal(webhooks.rotate({ ...call, overlap: "2 days" })), OverlapInvalidError)
  assert.instanceOf(await refusal(webhooks.rotate({ ...call, overlap: "1 hour" })), TooManySecretsError)
  const { id: delivery } = await webhooks.test(call)
  assert.instanceOf(await refusal(webhooks.resend({ account, delivery })), DeliveryPendingError)
  assert.instanceOf(await refusal(webhooks.resend({ account: "bob", delivery })), DeliveryNotFoundError)
  assert.instanceOf(await refusal(webhooks.get({ ...call, account: "bob" })), EndpointNotFoundError)
  await webhooks.update({ ...call, status: "disabled" })
  assert.instanceOf(await refusal(webhooks.test(call)), EndpointDisabledError)
  const wrongId = refusal(webhooks.get({ ...call, endpoint: delivery }))
  assert.match(String(await wrongId), /TypeError: Expected the id of an endpoint/)
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using webhooks = await createWebhooks({ memory: true, keys })
  const wrong = [
    ["publish", { type: "order.paid", data: {} }, "account of publish"],
    ["create", { account: "ada" }, "url of create"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(webhooks, method), webhooks, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})

const reasonOf = (error: unknown) => (error as Webhook.VerificationError).reason

const codeOf = (error: unknown) => (error as { readonly code: string }).code
