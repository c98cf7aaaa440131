/** Tests of endpoints, and of the locks on them. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect } from "effect"
import { type EndpointRecord, WebhookStore } from "../../WebhookStore.ts"
import type { Register } from "./tests.ts"
import { at, makeWorld } from "./world.ts"

/** Registers tests of endpoints and their secrets. */
export const endpointTests = (test: Register): void => {
  test("returns endpoints as they were saved, to their account only", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const other = yield* makeWorld
      const first = yield* world.endpoint()
      const second = yield* world.endpoint({ types: ["order.paid", "order.sent"], createdAt: at(1) })
      assert.deepStrictEqual(yield* store.findEndpoints([world.account]), [first.endpoint, second.endpoint])
      assert.deepStrictEqual(yield* store.findEndpoints([other.account]), [])
      assert.deepStrictEqual(yield* store.findEndpoints([other.account, world.account]), [
        first.endpoint,
        second.endpoint
      ])
      assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), second)
      assert.isUndefined(yield* store.loadEndpoint(other.account, second.endpoint.id))
      const changed: EndpointRecord = {
        endpoint: {
          ...second.endpoint,
          url: "https://example.com:8443/hooks",
          types: null,
          status: "disabled",
          secretCreatedAt: at(5)
        },
        secrets: [
          { sealed: "key.nonce.newest", createdAt: at(5), expiresAt: null },
          { sealed: "key.nonce.older", createdAt: at(2), expiresAt: at(60) },
          { sealed: "key.nonce.oldest", createdAt: at(1), expiresAt: at(30) }
        ]
      }
      yield* store.saveEndpoint(changed)
      assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), changed)
      const fewer = { ...changed, secrets: changed.secrets.slice(0, 1) }
      yield* store.saveEndpoint(fewer)
      assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), fewer)
      assert.strictEqual(yield* store.countEndpoints(world.account), 2)
      assert.deepStrictEqual(yield* store.loadEndpoint(world.account, first.endpoint.id), first)
    }))

  test("finds secrets that another key sealed and expired ones", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const old = yield* world.endpoint({}, "k1.nonce.text")
      const fresh = yield* world.endpoint({}, "k2.nonce.text")
      const over = yield* world.endpoint({}, "k2.nonce.text")
      const longer = yield* world.endpoint({}, "k20.nonce.text")
      yield* store.saveEndpoint({
        ...over,
        secrets: [...over.secrets, { sealed: "k2.nonce.older", createdAt: at(0), expiresAt: at(60) }]
      })
      const own = Effect.fnUntraced(function*(now: DateTime.Utc) {
        const found = yield* store.findStaleSecrets("k2.", now, 1_000)
        return found.filter(({ account }) => account === world.account).map(({ id }) => id)
      })
      assert.sameMembers(yield* own(at(59)), [old.endpoint.id, longer.endpoint.id])
      assert.sameMembers(yield* own(at(60)), [old.endpoint.id, longer.endpoint.id, over.endpoint.id])
      assert.notInclude(yield* own(at(60)), fresh.endpoint.id)
      assert.strictEqual((yield* store.findStaleSecrets("k2.", at(60), 1)).length, 1)
    }))
}

/** Registers tests of limits and of secrets that are returned to workers. */
export const endpointUnitTests = (test: Register): void => {
  test("locks the account while its endpoints are counted, so that a limit is exact", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const insert = Effect.gen(function*() {
        if ((yield* store.countEndpoints(world.account)) >= 5) return false
        yield* world.endpoint()
        return true
      }).pipe(atomically)
      const inserted = yield* Effect.all(Array.from({ length: 20 }, () => insert), { concurrency: "unbounded" })
      assert.strictEqual(inserted.filter(Boolean).length, 5)
      assert.strictEqual((yield* store.findEndpoints([world.account])).length, 5)
    }))
}

/** Registers the test of active secrets. */
export const activeSecretTests = (test: Register): void => {
  test("returns active secrets, newest first", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const { endpoint } = yield* world.endpoint()
      const secrets = [
        { sealed: "key.nonce.a", createdAt: at(9), expiresAt: null },
        { sealed: "key.nonce.c", createdAt: at(5), expiresAt: at(60) },
        { sealed: "key.nonce.b", createdAt: at(1), expiresAt: at(30) }
      ]
      yield* store.saveEndpoint({ endpoint, secrets })
      yield* world.publish([{ endpoint, secrets }])
      const claim = (now: number) =>
        Effect.map(
          store.claim([{ endpoint: endpoint.id, limit: 1 }], at(now), at(now + 1)),
          ([claimed]) => claimed?.secrets
        )
      assert.deepStrictEqual(yield* claim(29), secrets)
      assert.deepStrictEqual(yield* claim(30), secrets.slice(0, 2))
      assert.deepStrictEqual(yield* claim(60), secrets.slice(0, 1))
    }))
}
