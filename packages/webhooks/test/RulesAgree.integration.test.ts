import { assert, layer } from "@effect/vitest"
import type { StorageError } from "@kinora/persistence/StorageError"
import { TestDatabase } from "@kinora/testkit"
import { Duration, Effect, HashMap, Result, Schema } from "effect"
import type { Claimed } from "../src/Delivery.ts"
import { at } from "../src/internal/contract/world.ts"
import { claim } from "../src/internal/rules/claim.ts"
import * as Lists from "../src/internal/rules/lists.ts"
import * as Outbox from "../src/internal/rules/Outbox.ts"
import { settle } from "../src/internal/rules/settlement.ts"
import * as Sweep from "../src/internal/rules/sweep.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"
import * as OutboxRows from "./OutboxRows.ts"
import { build, endpointIds, settlementOf, State } from "./RandomOutbox.ts"

const Number05 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

/** A random command. The numbers are its arguments. */
const Command = Schema.Tuple([
  Schema.Literals([
    "due",
    "claim",
    "claim",
    "settle",
    "settle",
    "release",
    "freeze",
    "restart",
    "expire",
    "sweep",
    "trim",
    "failing"
  ]),
  Number05,
  Number05,
  Number05,
  Number05
])

type Kind = (typeof Command.Type)[0]

/** Runs a command in the store and decides it by the rules. Returns the state of the rules after it. */
type Run = (
  store: WebhookStore["Service"],
  outbox: Outbox.Outbox,
  arguments_: readonly [number, number, number, number]
) => Effect.Effect<Outbox.Outbox, StorageError>

const commands: Record<Kind, Run> = {
  due: (store, outbox, [now, limit, after]) =>
    Effect.map(store.due(at(now), limit, endpointIds[after]), (found) => {
      assert.deepStrictEqual(found, Lists.due(outbox, { now: at(now), limit, after: endpointIds[after] }))
      return outbox
    }),
  claim: (store, outbox, [now, order, limit, bytes]) =>
    Effect.gen(function*() {
      const demands = endpointIds.map((endpoint, index) => ({ endpoint, limit: (limit + index) % 4 }))
      const command = {
        demands: order % 2 === 0 ? demands : demands.toReversed(),
        now: at(now),
        until: at(now + 3),
        bytesMax: bytes === 5 ? 1_000_000 : bytes * 12
      }
      const { demands: all, now: time, until, bytesMax } = command
      const claimed = yield* store.claim(all, time, until, bytesMax)
      const { state, value } = Result.merge(claim(outbox, command))
      assert.deepStrictEqual(byDelivery(claimed), byDelivery(value))
      return state
    }),
  settle: (store, outbox, [first, ...rest]) =>
    Effect.gen(function*() {
      const settlements = chosen(outbox, first).map((delivery, index) =>
        settlementOf(delivery, [(rest[0] + index) % 6, (rest[1] + index) % 6, (rest[2] + index) % 6, index])
      )
      const settled = yield* store.settle(settlements)
      const { results, state } = settle(outbox, settlements)
      assert.sameMembers([...settled], results.filter(Result.isSuccess).map(({ success }) => success))
      return state
    }),
  release: (store, outbox, [first, time, stale]) => {
    const claims = chosen(outbox, first).map(({ claims, id }, index) => ({
      delivery: id,
      claims: index === stale ? claims + 1 : claims
    }))
    return Effect.as(store.release(claims, at(time)), Outbox.release(outbox, { claims, at: at(time) }).state)
  },
  freeze: (store, outbox, [first, size]) => {
    const bodies = chosen(outbox, first).map(({ id }) => ({ delivery: id, body: new Uint8Array(size) }))
    return Effect.as(store.freeze(bodies), Outbox.freeze(outbox, bodies).state)
  },
  restart: (store, outbox, [first, time]) => {
    const [delivery] = chosen(outbox, first)
    return delivery === undefined ? Effect.succeed(outbox) : Effect.as(
      store.restart(delivery.id, at(time)),
      Outbox.restart(outbox, { id: delivery.id, at: at(time) }).state
    )
  },
  expire: (store, outbox, [before, now, limit]) =>
    untilZero(
      outbox,
      (outbox) => Result.merge(Sweep.expire(outbox, { before: at(before), now: at(now), limit: limit + 1 })),
      store.expire(at(before), at(now), limit + 1)
    ),
  sweep: (store, outbox, [before, limit]) =>
    untilZero(
      outbox,
      (outbox) => Result.merge(Sweep.sweep(outbox, { before: at(before), limit: limit + 1 })),
      store.sweep(at(before), limit + 1)
    ),
  trim: (store, outbox, [kept, limit]) =>
    untilZero(
      outbox,
      (outbox) => Result.merge(Sweep.trimSends(outbox, { kept, limit: limit + 1 })),
      store.trimSends(kept, limit + 1)
    ),
  failing: (store, outbox, [seconds, limit]) =>
    Effect.map(store.lockFailing(Duration.seconds(seconds), limit), (found) => {
      assert.deepStrictEqual(found, Lists.failing(outbox, Duration.seconds(seconds), limit))
      return outbox
    })
}

/** Repeats a sweep until nothing is left. Which rows a sweep takes within its limit is not specified; how many is. */
const untilZero = Effect.fnUntraced(function*(
  outbox: Outbox.Outbox,
  decide: (outbox: Outbox.Outbox) => { readonly state: Outbox.Outbox; readonly value: number },
  run: Effect.Effect<number, StorageError>
) {
  let current = outbox
  for (;;) {
    const { state, value } = decide(current)
    assert.strictEqual(yield* run, value)
    current = state
    if (value === 0) return current
  }
})

/** Every second delivery from the n-th on. */
const chosen = ({ deliveries }: Outbox.Outbox, n: number) =>
  HashMap.toValues(deliveries)
    .toSorted((a, b) => a.id < b.id ? -1 : 1)
    .filter((_, index) => index >= n && (index - n) % 2 === 0)

const byDelivery = (claimed: ReadonlyArray<Claimed>) => claimed.toSorted((a, b) => a.delivery < b.delivery ? -1 : 1)

for (const [name, database] of TestDatabase.all) {
  layer(over(database))(`WebhookStore and its rules (${name})`, (it) => {
    it.effect.prop(
      "the SQL returns and stores what the rules decide",
      [State, Schema.Array(Command).check(Schema.isMinLength(4), Schema.isMaxLength(6))],
      ([random, story]) =>
        Effect.gen(function*() {
          const store = yield* WebhookStore
          const { outbox, removed } = build(random)
          yield* OutboxRows.save(outbox, removed)
          assert.deepStrictEqual(yield* OutboxRows.load, OutboxRows.contentOf(outbox))
          let current = outbox
          for (const [kind, ...numbers] of story) {
            current = yield* commands[kind](store, current, numbers)
            assert.deepStrictEqual(yield* OutboxRows.load, OutboxRows.contentOf(current), kind)
          }
        }),
      { arbitrary: { runs: 100 }, timeout: 120_000 }
    )
  })
}
