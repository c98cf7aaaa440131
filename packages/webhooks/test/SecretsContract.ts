import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { instance, makeAccount } from "../src/internal/contract/services.ts"
import { SecretBox } from "../src/SecretBox.ts"
import { layer as layerWebhooks, Webhooks } from "../src/Webhooks.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { boxOf, newKey, oldKey, surroundings } from "./ServiceFixture.ts"

/** The behaviour of `reseal` over every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<WebhookStore | UnitOfWork.UnitOfWork, E>) =>
  layer(layerWebhooks.pipe(Layer.provideMerge(Layer.merge(backend, surroundings))))(
    `Webhooks, secrets (${name})`,
    (it) => {
      it.effect("seals all secrets with the first key, so that the old key can be removed", () =>
        Effect.gen(function*() {
          const store = yield* WebhookStore
          const account = yield* makeAccount
          const webhooks = yield* Webhooks
          const { endpoint: { id }, secret: first } = yield* webhooks.create(account, { url: "https://example.com" })
          const { secret: second } = yield* webhooks.rotate(account, id, "1 hour")
          const expected = [second, first].map((secret) => Redacted.value(secret))

          const both = yield* boxWith(newKey, oldKey)
          const onlyNew = yield* boxWith(newKey)
          const sealed = Effect.map(store.loadEndpoint(account, id), (record) => record!.secrets)
          const openedBy = Effect.fnUntraced(function*(box: SecretBox["Service"]) {
            const texts = yield* Effect.forEach(yield* sealed, (secret) => box.open(id, secret.sealed))
            return texts.map((secret) => Redacted.value(secret))
          })
          assert.deepStrictEqual(yield* openedBy(both), expected)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(openedBy(onlyNew))))

          const before = yield* sealed
          const rotated = yield* Effect.provideService(instance(), SecretBox, both)
          while ((yield* rotated.reseal(1)) > 0);
          assert.deepStrictEqual(yield* openedBy(onlyNew), expected)
          // Only the text has changed.
          assert.deepStrictEqual(
            (yield* sealed).map((secret) => ({ ...secret, sealed: "" })),
            before.map((secret) => ({ ...secret, sealed: "" }))
          )
          assert.isTrue((yield* sealed).every((secret) => secret.sealed.startsWith(both.prefix)))
        }))

      it.effect("deletes expired secrets", () =>
        Effect.gen(function*() {
          const store = yield* WebhookStore
          const account = yield* makeAccount
          const webhooks = yield* Webhooks
          while ((yield* webhooks.reseal(100)) > 0);
          const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
          yield* webhooks.rotate(account, id, "1 hour")
          const count = Effect.map(store.loadEndpoint(account, id), (record) => record?.secrets.length)
          yield* TestClock.adjust("3599999 millis")
          assert.strictEqual(yield* webhooks.reseal(100), 0)
          assert.strictEqual(yield* count, 2)
          yield* TestClock.adjust("1 millis")
          assert.strictEqual(yield* webhooks.reseal(100), 1)
          assert.strictEqual(yield* count, 1)
        }))

      it.effect("continues if no key opens one of the secrets", () =>
        Effect.gen(function*() {
          const store = yield* WebhookStore
          const account = yield* makeAccount
          const webhooks = yield* Webhooks
          const lost = yield* webhooks.create(account, { url: "https://example.com" })
          const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
          const record = (yield* store.loadEndpoint(account, lost.endpoint.id))!
          const broken = { ...record.secrets[0]!, sealed: "lost.AAAA.AAAA" }
          yield* store.saveEndpoint({ ...record, secrets: [broken] })
          const box = yield* boxWith(newKey, oldKey)
          const rotated = yield* Effect.provideService(instance(), SecretBox, box)
          while ((yield* rotated.reseal(100)) > 0);
          const sealedOf = (id: typeof lost.endpoint.id) =>
            Effect.map(store.loadEndpoint(account, id), (record) => record!.secrets[0]!.sealed)
          assert.strictEqual(yield* sealedOf(lost.endpoint.id), broken.sealed)
          assert.isTrue((yield* sealedOf(id)).startsWith(box.prefix))
          yield* webhooks.remove(account, lost.endpoint.id)
        }))
    }
  )

const boxWith = (first: string, ...others: ReadonlyArray<string>) =>
  Effect.map(Layer.build(Layer.fresh(boxOf(first, ...others))), (context) => Context.get(context, SecretBox))
