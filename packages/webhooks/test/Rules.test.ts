import { assert, it } from "@effect/vitest"
import { Effect, HashMap, Result, Schema } from "effect"
import { at } from "../src/internal/contract/world.ts"
import { claim } from "../src/internal/rules/claim.ts"
import * as Outbox from "../src/internal/rules/Outbox.ts"
import { settle } from "../src/internal/rules/settlement.ts"
import * as Sweep from "../src/internal/rules/sweep.ts"
import { contentOf } from "./OutboxRows.ts"
import { build, endpointIds, settlementOf, State } from "./RandomOutbox.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

type Decide = (outbox: Outbox.Outbox) => { readonly state: Outbox.Outbox }

/** One command of each kind. */
const commandsOf = (
  { deliveries }: Outbox.Outbox,
  [a, b, c, d]: readonly [number, number, number, number]
): ReadonlyArray<Decide> => {
  const claims = HashMap.toValues(deliveries).map(({ claims, id }) => ({ delivery: id, id, claims }))
  const demands = endpointIds.map((endpoint) => ({ endpoint, limit: b }))
  return [
    (outbox) => Result.merge(claim(outbox, { demands, now: at(a), until: at(a + 3), bytesMax: c * 20 })),
    (outbox) => settle(outbox, claims.map((claim, index) => settlementOf(claim, [a, (b + index) % 6, c, d]))),
    (outbox) => Outbox.release(outbox, { claims, at: at(b) }),
    (outbox) => Outbox.freeze(outbox, claims.map(({ delivery }) => ({ delivery, body: new Uint8Array(d) }))),
    ...claims.map(({ id }): Decide => (outbox) => Outbox.restart(outbox, { id, at: at(c) })),
    (outbox) => Result.merge(Outbox.removeEndpoint(outbox, endpointIds[a % 3]!)),
    (outbox) => Result.merge(Sweep.expire(outbox, { before: at(a), now: at(b), limit: c })),
    (outbox) => Result.merge(Sweep.sweep(outbox, { before: at(a), limit: b })),
    (outbox) => Result.merge(Sweep.trimSends(outbox, { kept: a, limit: b }))
  ]
}

it.effect.prop(
  "a decision does not change its state, and is the same each time",
  [State, Schema.Tuple([Small, Small, Small, Small])],
  ([random, numbers]) =>
    Effect.sync(() => {
      const { outbox } = build(random)
      const before = contentOf(outbox)
      for (const decide of commandsOf(outbox, numbers)) {
        assert.deepStrictEqual(contentOf(decide(outbox).state), contentOf(decide(outbox).state))
        assert.deepStrictEqual(contentOf(outbox), before)
      }
    })
)

it.effect.prop(
  "every state contains the events of its deliveries, and lists the pending ones",
  [State, Schema.Tuple([Small, Small, Small, Small])],
  ([random, numbers]) =>
    Effect.sync(() => {
      let { outbox } = build(random)
      for (const decide of commandsOf(outbox, numbers)) {
        outbox = decide(outbox).state
        const { deliveries, events, pending } = contentOf(outbox)
        assert.deepStrictEqual(pending, deliveries.filter(({ status }) => status === "pending"))
        for (const { deliveries: count, event } of events) {
          assert.strictEqual(deliveries.filter((delivery) => delivery.event === event.id).length, count)
          assert.isAbove(count, 0)
        }
        assert.isTrue(deliveries.every(({ event }) => HashMap.has(outbox.events, event)))
      }
    })
)
