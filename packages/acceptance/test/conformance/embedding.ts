/** Options of `@kinora/webhooks` that no setting of the server offers. */
import { expect } from "@effect/vitest"
import { AddressGuard } from "@kinora/address-guard"
import { Crypto } from "@kinora/hosting"
import { UnitOfWork } from "@kinora/persistence"
import { Secret, Signature } from "@kinora/webhook-signing"
import {
  DeliveryWorker,
  MemoryWebhookStore,
  SecretBox,
  Transport,
  UndiciTransport,
  Wakeup,
  Webhooks
} from "@kinora/webhooks"
import { Deferred, Effect, Layer, Redacted } from "effect"
import * as Verification from "../../src/Verification.ts"
import type { Define } from "./Suite.ts"

/** Webhooks in memory, with this DNS lookup. */
const webhooks = (lookup: AddressGuard.Lookup) =>
  Webhooks.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(
      AddressGuard.layerWith({ lookup }),
      MemoryWebhookStore.layer,
      SecretBox.layer({ keys: [Redacted.make("the key of a test, which everybody may know")] }),
      Wakeup.layer
    )),
    Layer.provideMerge(UnitOfWork.layerMemory),
    Layer.provideMerge(Layer.mergeAll(Crypto.layerAead, Crypto.layerDigest, Crypto.layerSecureRandom)),
    Layer.fresh
  )

/** Returns one address after the other, then the last one. */
const lookupOf = (addresses: ReadonlyArray<string>) => {
  let asked = 0
  const lookup: AddressGuard.Lookup = {
    addresses: () => Effect.sync(() => [addresses[Math.min(asked++, addresses.length - 1)] ?? ""]),
    aliases: () => Effect.succeed([])
  }
  return { lookup, asked: () => asked }
}

export const embedding = ({ inTime }: Define): void => {
  inTime("headers.names", async (stage) => {
    const program = Effect.gen(function*() {
      const sent = yield* Deferred.make<Transport.TransportRequest>()
      const transport = Layer.succeed(Transport.Transport, {
        send: (request) => Effect.as(Deferred.succeed(sent, request), { reason: "ok", httpStatus: 200 } as const)
      })
      const worker = DeliveryWorker.layerWith({ headerPrefix: "X-Acme-", userAgent: "Acme-Hooks/2" })
      return yield* Effect.gen(function*() {
        const { create, test } = yield* Webhooks.Webhooks
        const { endpoint, secret } = yield* create("acme", { url: "https://hooks.example.com/inbox" })
        yield* test("acme", endpoint.id)
        return { request: yield* Deferred.await(sent), secret: Redacted.value(secret) }
      }).pipe(Effect.provide(worker.pipe(
        Layer.provide(transport),
        Layer.provideMerge(webhooks(lookupOf(["1.1.1.1"]).lookup))
      )))
    })
    const { request: { body, headers }, secret } = await Effect.runPromise(program)
    expect(headers).toMatchObject({ "User-Agent": "Acme-Hooks/2", "X-Acme-Event": "webhook.test" })
    expect(Object.keys(headers).filter((name) => name.startsWith("X-")).toSorted()).toEqual([
      "X-Acme-Delivery",
      "X-Acme-Event",
      "X-Acme-Signature"
    ])
    const header = headers["X-Acme-Signature"] ?? null
    expect(Verification.byStripe({ body, header, secret, at: new Date() })).toBeNull()
    expect(stage.host).toBe("memory")
  })

  inTime("address-rules.send", async (stage) => {
    await using receiver = await stage.receive()
    const inbox = receiver.inbox()
    const secret = Secret.generate()
    inbox.trust([secret])
    const timestamp = stage.now().getTime() / 1_000
    const event = { id: "dlv_1", type: "webhook.test", created_at: stage.now().toISOString(), data: {} }
    const body = new TextEncoder().encode(JSON.stringify(event))
    const headers = { "X-Service-Signature": await Signature.sign({ secret, body, timestamp }) }
    const send = (url: string, options: AddressGuard.AddressGuardOptions) =>
      Effect.runPromise(
        Transport.Transport.use(({ send }) => send({ url, headers, body })).pipe(
          Effect.provide(UndiciTransport.layerWith({}).pipe(Layer.provide(AddressGuard.layerWith(options))))
        )
      )
    // The name resolves to the receiver once, and to another address afterwards.
    const { asked, lookup } = lookupOf(["127.0.0.1", "192.0.2.1"])
    expect(await send(inbox.url, { allowPrivate: true, lookup })).toEqual({ reason: "ok", httpStatus: 200 })
    expect([asked(), receiver.connections()]).toEqual([1, 1])

    // The address was public at registration and is private at the send.
    const rebinding = { lookup: lookupOf(["1.1.1.1", "127.0.0.1"]).lookup, ports: [receiver.port] }
    const url = `https://receiver.example.com:${receiver.port}/`
    const registered = AddressGuard.AddressGuard.use(({ check }) => check(url)).pipe(
      Effect.provide(AddressGuard.layerWith(rebinding))
    )
    expect((await Effect.runPromise(registered)).addresses).toEqual(["1.1.1.1"])
    expect(await send(url, rebinding)).toEqual({ reason: "blocked_address", httpStatus: null })
    expect(receiver.connections()).toBe(1)
  })
}
