/** Statements and round trips of sign-ins, requests and their ends. */
import { assert, it } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as SqlSessionStore from "../src/SqlSessionStore.ts"
import { browser, makeHost, memberOf } from "./Hosts.ts"

/** `BEGIN` and `COMMIT` included. */
const bounds = {
  // Awaits the times of the inserted row, which are those of the database.
  createCode: { statements: 5, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
  // Awaits the code, which names the subject to lock, and the times of the session.
  redeem: { statements: 7, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 },
  // Awaits the times of the session.
  start: { statements: 5, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
  // Ends the replaced session, and the one that was not used for the longest time.
  startInPlace: { statements: 7, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
  authenticate: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  // Records the use.
  authenticateLater: { statements: 2, roundTrips: 2, writesAfterLock: 0, writesAfterRead: 0 },
  end: { statements: 4, roundTrips: 2, writesAfterLock: 0, writesAfterRead: 1 },
  signOut: { statements: 4, roundTrips: 2, writesAfterLock: 0, writesAfterRead: 1 },
  endOthers: { statements: 4, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 1 },
  endAll: { statements: 5, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 1 }
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
