/** The SQL statements decide on slots like the pure functions, in random states. */
import { assert, layer } from "@effect/vitest"
import * as Rows from "@kinora/persistence/Rows"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Duration, Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Fingerprint } from "../src/Fingerprint.ts"
import { IdempotencyStore } from "../src/IdempotencyStore.ts"
import * as Claims from "../src/internal/claims.ts"
import { fingerprintOf } from "../src/internal/contract/requests.ts"
import * as Backend from "./Backend.ts"

/** Few values, so that slots, references and times meet often. */
const Small = Schema.Struct({
  identity: Schema.Literals(["a", "b", "c", "d"]),
  body: Schema.Literals(["x", "y"]),
  reference: Schema.Literals(["1", "2"]),
  window: Schema.Literals([0, 1, 2])
})

const Set = Schema.Array(Small).check(Schema.isMaxLength(4))

const Command = Schema.Struct({
  operation: Schema.Literals(["claim", "extend", "release", "renew", "complete", "sweep"]),
  claims: Set,
  at: Schema.Literals([0, 1, 2, 3]),
  limit: Schema.Literals([0, 1, 10])
})

const time = (seconds: number) => DateTime.makeUnsafe(seconds * 1_000)

/** The claims of a set, one per slot, in the order that stores require. */
const arriving = (smalls: ReadonlyArray<typeof Small.Type>): ReadonlyArray<Claims.Arriving> => {
  const bySlot = new Map(smalls.map(({ body, identity, reference, window }) => [identity, {
    scope: "rules",
    identity,
    fingerprint: fingerprintOf(body),
    reference,
    window: Duration.seconds(window)
  }]))
  return Array.from(bySlot.values()).toSorted((a, b) => a.identity < b.identity ? -1 : 1)
}

const decodeHeld = Rows.decodeAll(Schema.Struct({
  scope: Schema.String,
  identity: Schema.String,
  fingerprint: Fingerprint,
  reference: Schema.String,
  expiresAt: Schema.DateTimeUtcFromDate,
  status: Schema.NullOr(Schema.Int)
}))

/** The response of every request. */
const response = { status: 204, headers: [], body: undefined }

const readSlots = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* decodeHeld(sql`
    SELECT scope, identity, fingerprint, reference, expires_at AS "expiresAt", response_status AS status
    FROM idempotency_claim
    WHERE scope = 'rules'
  `)
  return new Map<string, Claims.Held>(
    rows.map(({ status, ...held }) => [held.identity, status === null ? held : { ...held, response }])
  )
})

/** Decides each command by the rules, and returns the slots after it and the refusals. */
const decideEach = <Command extends Claims.Slot, Refusal>(
  slots: ReadonlyMap<string, Claims.Held>,
  commands: ReadonlyArray<Command>,
  decide: (
    slot: Claims.SlotState,
    command: Command
  ) => Result.Result<{ readonly state: Claims.SlotState }, Refusal>
) => {
  const next = new Map(slots)
  const refused = commands.flatMap((command) => {
    const decided = decide(next.get(command.identity), command)
    if (Result.isFailure(decided)) return [decided.failure]
    if (decided.success.state === undefined) next.delete(command.identity)
    else next.set(command.identity, decided.success.state)
    return []
  })
  return { slots: next, refused }
}

for (const [name, database] of TestDatabase.all) {
  layer(Backend.over(database))(`Rules in SQL (${name})`, (it) => {
    it.effect.prop(
      "claim, extend, release, renew, complete and sweep do to the rows what the rules define",
      [Schema.Array(Command).check(Schema.isMaxLength(8))],
      ([commands]) =>
        Effect.gen(function*() {
          const store = yield* IdempotencyStore
          const sql = yield* SqlClient.SqlClient
          yield* sql`DELETE FROM idempotency_claim`
          let slots: ReadonlyMap<string, Claims.Held> = new Map()
          for (const { at, claims, limit, operation } of commands) {
            const set = arriving(claims)
            yield* TestClock.setTime(at * 1_000)
            if (operation === "sweep") {
              const expired = Array.from(slots.values()).filter((held) => !Claims.holds(held, time(at)))
              const swept = yield* store.sweep(limit)
              assert.strictEqual(swept, Math.min(limit, expired.length))
              const left = yield* readSlots
              // Which claims with the same end are deleted first is not specified.
              const deleted = Array.from(slots.keys()).filter((identity) => !left.has(identity))
              assert.strictEqual(deleted.length, swept)
              assert.isTrue(deleted.every((identity) => expired.some((held) => held.identity === identity)))
              slots = left
              continue
            }
            const expected = operation === "claim"
              ? decideEach(slots, set, (slot, next) => Claims.claim(slot, next, time(at)))
              : operation === "extend"
              ? decideEach(slots, set, (slot, next) => Claims.extend(slot, next, time(at)))
              : operation === "renew"
              ? decideEach(slots, set, (slot, next) => Claims.renew(slot, next, time(at)))
              : operation === "complete"
              ? decideEach(slots, set.map((next) => ({ ...next, response })), (slot, next) =>
                Claims.complete(slot, next, time(at)))
              : decideEach(slots, set, Claims.release)
            if (operation === "claim") {
              const held = yield* store.claim(set)
              assert.deepStrictEqual(byIdentity(held), byIdentity(expected.refused))
            } else if (operation === "extend") {
              yield* store.extend(set)
            } else if (operation === "renew") {
              yield* store.renew(set)
            } else if (operation === "complete") {
              const completed = yield* Effect.forEach(set, (next) =>
                store.complete({ ...next, response }))
              assert.strictEqual(
                completed.filter((isCompleted) =>
                  !isCompleted
                ).length,
                expected.refused.length
              )
            } else yield* store.release(set)
            slots = expected.slots
            assert.deepStrictEqual(byIdentity((yield* readSlots).values()), byIdentity(slots.values()))
          }
        }),
      { arbitrary: { runs: 150 } }
    )
  })
}

const byIdentity = (held: Iterable<Claims.SlotState>) =>
  Array.from(held).flatMap((held) => held ?? []).toSorted((a, b) => a.identity < b.identity ? -1 : 1)
