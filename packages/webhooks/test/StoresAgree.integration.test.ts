import { assert, layer } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Claimed, DeliveryId } from "../src/Delivery.ts"
import type { EndpointId } from "../src/Endpoint.ts"
import { at, makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import { type Settlement, WebhookStore } from "../src/WebhookStore.ts"
import { memory, over } from "./Fixture.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

/** A random operation. The numbers choose its arguments. */
const Step = Schema.Tuple([
  Schema.Literals([
    "publish",
    "publish",
    "claim",
    "claim",
    "settle",
    "settle",
    "release",
    "restart",
    "wait",
    "expire",
    "sweep",
    "trim",
    "remove"
  ]),
  Small,
  Small
])

const Story = Schema.Array(Step).check(Schema.isMinLength(60), Schema.isMaxLength(80))

const nexts: ReadonlyArray<(now: number) => Settlement["next"]> = [
  () => ({ _tag: "Delivered" }),
  () => ({ _tag: "Failed" }),
  (now) => ({ _tag: "Again", dueAt: at(now + 10) })
]

layer(Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto))("WebhookStore", (it) => {
  it.effect.prop(
    "the Postgres store behaves like the memory store for any sequence of operations",
    [Story],
    ([story]) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        for (const table of ["endpoint", "secret", "event", "delivery", "send"].toReversed()) {
          yield* sql`TRUNCATE ${sql(`webhooks_${table}`)} CASCADE`
        }
        const inSql = yield* WebhookStore
        const inMemory = Context.get(yield* Layer.build(Layer.fresh(memory)), WebhookStore)
        /** Calls both stores and compares their results. */
        const both = <A, E>(ask: (store: WebhookStore["Service"]) => Effect.Effect<A, E>) =>
          Effect.gen(function*() {
            const expected = yield* ask(inMemory)
            assert.deepStrictEqual(yield* ask(inSql), expected)
            return expected
          })
        // The fixture inserts into both stores.
        const world = yield* Effect.provideService(makeWorld, WebhookStore, {
          ...inSql,
          insertEndpoint: (record) => both((store) => Effect.asVoid(store.insertEndpoint(record))),
          publish: (events, deliveries) => both((store) => Effect.asVoid(store.publish(events, deliveries)))
        })
        const endpoints = [yield* world.endpoint(), yield* world.endpoint()]
        const ids = endpoints.map(({ endpoint }) => endpoint.id)
        const removed = new Set<EndpointId>()
        let now = 0
        let published: ReadonlyArray<DeliveryId> = []
        /** All claims so far, including lost ones. */
        let claims: ReadonlyArray<Claimed> = []

        const steps: Record<typeof Step.Type[0], (a: number, b: number) => Effect.Effect<unknown, unknown>> = {
          publish: (a) => {
            const taking = endpoints.filter(({ endpoint }, index) =>
              !removed.has(endpoint.id) && (a < 3 || a % 2 === index)
            )
            return taking.length === 0 ? Effect.void : Effect.map(world.publish(taking, at(now)), ({ deliveries }) => {
              published = [...published, ...deliveries]
            })
          },
          claim: (a, b) =>
            both((store) =>
              Effect.map(
                // The data of an event has seven bytes.
                store.claim([{ endpoint: ids[a % 2]!, limit: 1 + b }], at(now), at(now + 30), a > 3 ? 15 : undefined),
                sorted
              )
            ).pipe(Effect.map((claimed) => {
              claims = [...claims, ...claimed]
            })),
          settle: (a, b) => {
            const claim = claims.at(-1 - a)
            if (claim === undefined) return Effect.void
            const settlement = settlementOf(claim, nexts[b % 3]!(now), at(now))
            const { send } = settlement
            const disabled = send && { ...send, outcome: { reason: "disabled", httpStatus: null } as const }
            const told = b === 4
              ? { ...settlement, send: disabled }
              : b === 5
              ? { ...settlement, send: null }
              : settlement
            return both((store) => store.settle([told]))
          },
          release: (a) => both((store) => Effect.asVoid(store.release(claims.slice(-1 - a), at(now + 1)))),
          restart: (a) =>
            Effect.gen(function*() {
              const id = published.at(-1 - a)
              if (id === undefined) return
              const found = yield* both((store) => store.loadDelivery(world.account, id))
              if (found === undefined || found.status === "pending") return
              yield* both((store) => Effect.asVoid(store.restart(id, at(now))))
            }),
          wait: (a, b) => Effect.sync(() => void (now += 1 + a * b)),
          expire: (a) => both((store) => store.expire(at(now - 5 * a), at(now), 1_000)),
          sweep: (a) => both((store) => store.sweep(at(now - 5 * a), 1_000)),
          trim: (a) => both((store) => store.trimSends(a, 1_000)),
          remove: (a, b) => {
            const id = ids[a % 2]!
            if (b > 0 || removed.has(id)) return Effect.void
            removed.add(id)
            return both((store) => Effect.asVoid(store.removeEndpoint(id)))
          }
        }

        for (const [step, a, b] of story) {
          yield* steps[step](a, b)
          for (const id of ids) {
            yield* both((store) => store.listDeliveries(id, 100))
            yield* both((store) => store.listSends(id, 100))
          }
          yield* both((store) => store.due(at(now), 1 + a % 2))
          yield* both((store) => store.findEndpoints([world.account]))
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 12 }, timeout: 120_000 }
  )
})

const sorted = (claimed: ReadonlyArray<Claimed>) =>
  claimed.toSorted((a, b) => DateTime.Order(a.dueAt, b.dueAt) || (a.delivery < b.delivery ? -1 : 1))
