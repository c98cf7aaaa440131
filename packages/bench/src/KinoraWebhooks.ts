/** The webhooks of Kinora, composed as in hosts, with the default limits. */
import { AddressGuard } from "@kinora/address-guard"
import { Crypto, Database, Stores } from "@kinora/hosting"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { DeliveryWorker, SecretBox, UndiciTransport, Wakeup, Webhooks } from "@kinora/webhooks"
import { Effect, Layer, Redacted } from "effect"
import { type Environment, failingWith } from "./Benchmark.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { filler, type WebhookSender } from "./WebhookSender.ts"

/** Creates the sender. It sends the data of events as they were published. */
export const make = (environment: Environment) => makeWith(environment, "kinora", {})

/** Creates a sender that makes the data on the first send and stores them, as the service does with jobs. */
export const makeCompleting = (environment: Environment) =>
  makeWith(environment, "kinora, data made on the first send", { complete: ({ data }) => Effect.succeed(data) })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeWith = Effect.fnUntraced(function*(
  { database }: Environment,
  name: string,
  options: Pick<DeliveryWorker.HttpWorkerOptions, "complete">
) {
  const url = yield* database
  const services = yield* Layer.build(layer(url)).pipe(failingWith("Webhooks do not start"))
  const provided = <A, E, R extends Services>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideContext(services), failingWith("Webhooks failed"))

  const sender: WebhookSender = {
    name,
    database: url,
    perSecond: 2_000,
    empty: PostgresServer.truncate(
      url,
      "webhooks_endpoint",
      "webhooks_secret",
      "webhooks_event",
      "webhooks_delivery",
      "webhooks_send"
    ),
    register: Effect.fnUntraced(function*(urls) {
      const webhooks = yield* Webhooks.Webhooks
      yield* Effect.forEach(urls, (url, index) => webhooks.create(accountOf(index), { url }), { discard: true })
    }, provided),
    publish: Effect.fnUntraced(function*(events, endpoints) {
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const webhooks = yield* Webhooks.Webhooks
      yield* atomically(webhooks.publish(events.map((n, index) => ({
        account: accountOf(endpoints[index % endpoints.length] ?? 0),
        type: "bench.done",
        data: { n, filler }
      }))))
    }, provided),
    send: DeliveryWorker.make({ makeSigner: Crypto.makeWebhookSigner, ...options }).pipe(
      Effect.asVoid,
      Effect.provideContext(services)
    ),
    isDone: "SELECT NOT EXISTS (SELECT 1 FROM webhooks_delivery WHERE due_at IS NOT NULL) AS done"
  }
  return sender
})

const accountOf = (endpoint: number): string => `account-${endpoint}`

const layer = (url: string) =>
  Layer.mergeAll(Webhooks.layer, UndiciTransport.layerWith({})).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Stores.layerSql,
      Wakeup.layer,
      AddressGuard.layerWith({ allowPrivate: true }),
      SecretBox.layer({ keys: [Redacted.make("a key of the benchmarks, of at least 32 bytes")] })
    )),
    Layer.provideMerge(Layer.mergeAll(Crypto.layerAead, Crypto.layerDigest, Crypto.layerSecureRandom)),
    Layer.provideMerge(Migrations.layer(...Stores.migrations)),
    // The URL is set, so the directory of an embedded database is unused.
    Layer.provideMerge(Database.layer({ url: Redacted.make(url), dataDirectory: "" }))
  )

type Services = Layer.Success<ReturnType<typeof layer>>
