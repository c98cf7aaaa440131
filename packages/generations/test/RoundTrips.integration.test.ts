/** Statements and round trips of single operations, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { Pipelining } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { DateTime, Effect, Option } from "effect"
import { Generations } from "../src/Generations.ts"
import { layerSql, openAccount, openLimited, request } from "./Assembly.ts"

/** Upper bounds, `BEGIN` and `COMMIT` included. Locks of a unit wait for the client in each round trip. */
const bounds = {
  charge: { statements: 5, roundTrips: 2 },
  refund: { statements: 5, roundTrips: 2 },
  create: { statements: 9, roundTrips: 5 },
  replay: { statements: 5, roundTrips: 5 },
  get: { statements: 1, roundTrips: 1 },
  cancel: { statements: 11, roundTrips: 6 },
  // Locks, reads and writes what the key has spent.
  createLimited: { statements: 12, roundTrips: 8 },
  cancelLimited: { statements: 14, roundTrips: 9 }
}

it.live("operations send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const { cancel, create, get } = yield* Generations
      const { charge, refund } = yield* Ledger.Ledger
      const account = yield* openAccount({ credits: 100 })
      const at = yield* DateTime.now
      const job = { account: account.id, reference: "job", at }
      // The first job of an account also opens its lane.
      const { generation } = yield* create(yield* request(account, { key: "first" }))
      const created = create(yield* request(account, { key: "second" }))
      const other = yield* openLimited({ credits: 100, budget: { jobsPerDay: Option.some(5) } })
      const { budgetLine } = other
      const { generation: first } = yield* create(yield* request(other.account, { key: "first", budgetLine }))
      const limited = create(yield* request(other.account, { key: "second", budgetLine }))
      return {
        charge: yield* costOf(charge({ ...job, amount: { _tag: "Credits", credits: 1, purpose: "image" } })),
        refund: yield* costOf(refund(job)),
        create: yield* costOf(created),
        replay: yield* costOf(created),
        get: yield* costOf(get(account.id, generation.id)),
        cancel: yield* costOf(cancel(account.id, generation.id)),
        createLimited: yield* costOf(limited),
        cancelLimited: yield* costOf(cancel(other.account.id, first.id))
      }
    }).pipe(Effect.provide(layerSql(database)))
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))
