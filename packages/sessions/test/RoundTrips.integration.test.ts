/** Statements and round trips of sign-ins, requests and their ends. */
import { assert, it } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as SqlSessionStore from "../src/SqlSessionStore.ts"
import { browser, makeHost, memberOf } from "./Hosts.ts"

/** Upper bounds, `BEGIN` and `COMMIT` included. Locks of a unit wait for the client in each round trip. */
const bounds = {
  createCode: { statements: 5, roundTrips: 3 },
  redeem: { statements: 7, roundTrips: 5 },
  start: { statements: 5, roundTrips: 3 },
  // Ends the replaced session, and the one that was not used for the longest time.
  startInPlace: { statements: 7, roundTrips: 3 },
  authenticate: { statements: 1, roundTrips: 1 },
  // Records the use.
  authenticateLater: { statements: 2, roundTrips: 2 },
  end: { statements: 4, roundTrips: 2 },
  signOut: { statements: 4, roundTrips: 2 },
  endOthers: { statements: 4, roundTrips: 3 },
  endAll: { statements: 5, roundTrips: 3 }
}

it.live("operations send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* makeHost({ sessionsMax: 3 })
      const grant = memberOf("a")
      const { code } = yield* sessions.createCode(grant)
      const first = yield* sessions.start(grant, browser)
      yield* sessions.start(grant, browser)
      const createCode = yield* costOf(sessions.createCode(grant))
      const start = yield* costOf(sessions.start(grant, browser))
      const redeem = yield* costOf(sessions.redeem(code, browser))
      const startInPlace = yield* costOf(sessions.start(grant, { ...browser, replaces: first.token }))
      const { session: current, token } = yield* sessions.start(grant, browser)
      const authenticate = yield* costOf(sessions.authenticate(token))
      yield* sql`UPDATE sessions_session SET created_at = created_at - interval '1 hour', seen_at = seen_at - interval '1 hour'`
      const authenticateLater = yield* costOf(sessions.authenticate(token))
      const other = yield* sessions.start(grant, browser)
      const last = yield* sessions.start(grant, browser)
      return {
        createCode,
        redeem,
        start,
        startInPlace,
        authenticate,
        authenticateLater,
        end: yield* costOf(sessions.end(grant, other.session.id)),
        signOut: yield* costOf(sessions.signOut(last.token)),
        endOthers: yield* costOf(sessions.endOthers(current)),
        endAll: yield* costOf(sessions.endAll({ account: "a" }))
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(SqlSessionStore.layer, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
          Layer.provideMerge(Migrations.layer(SqlSessionStore.migrations)),
          Layer.provideMerge(database)
        )
      )
    )
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))
