/** Sweeps beside transactions that keep accounts locked. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { accepted, after, chargeOf, grantOf, holdOf } from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"
import * as Backends from "./Backends.ts"

layer(Backends.over(TestDatabase.postgres))("A sweep", (it) => {
  it.effect("books what has expired of other accounts while a transaction keeps one locked, then waits for that one", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const at = after({ hours: 2 })
      const expiresAt = after({ hours: 1 })
      for (const [n, account] of ["locked", "free", "zero"].entries()) {
        yield* accepted(ledger.grantAll([
          grantOf(account, 10, { reference: "kept" }),
          grantOf(account, 3, { reference: "expiring", expiresAt: after({ minutes: 30 + n }) })
        ]))
        yield* ledger.hold(holdOf(account, "job", 8, { expiresAt: after({ minutes: 10 + n }) }))
      }
      const sweep = ledger.expire({ at })
      const impatient = atomically(Effect.andThen(sql`SET LOCAL lock_timeout = '50ms'`, sweep))
      const locked = yield* Latch.make()
      const finish = yield* Latch.make()
      const transaction = yield* Effect.forkChild(atomically(Effect.gen(function*() {
        yield* ledger.charge(chargeOf("locked", "other", 1, { at: expiresAt }))
        yield* locked.open
        yield* finish.await
      })))
      yield* locked.await
      assert.deepStrictEqual(yield* impatient, { holds: 2, lots: 2, credits: 0 })
      assert.strictEqual((yield* Effect.flip(impatient)).reason, "unavailable")
      const waiting = yield* Effect.forkChild(sweep, { startImmediately: true })
      yield* finish.open
      yield* Fiber.join(transaction)
      assert.deepStrictEqual(yield* Fiber.join(waiting), { holds: 1, lots: 1, credits: 0 })
      assert.deepStrictEqual(yield* sweep, { holds: 0, lots: 0, credits: 0 })
      for (const account of ["locked", "free", "zero"]) {
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
        assert.strictEqual((yield* ledger.balances(account, at)).held, 0)
      }
    }))

  it.effect("finds nothing of an account that is forgotten while it waits for it, and does not store its name again", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const account = "forgotten"
      yield* ledger.grant(grantOf(account, 3, { expiresAt: after({ hours: 1 }) }))
      const begun = yield* Latch.make()
      const finish = yield* Latch.make()
      const transaction = yield* Effect.forkChild(atomically(Effect.gen(function*() {
        yield* ledger.forget({ account, at: after({ hours: 0 }) })
        yield* begun.open
        yield* finish.await
      })))
      yield* begun.await
      const waiting = yield* Effect.forkChild(ledger.expire({ at: after({ hours: 2 }) }), { startImmediately: true })
      const waits = sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      `
      while ((yield* waits).length === 0);
      yield* finish.open
      yield* Fiber.join(transaction)
      assert.deepStrictEqual(yield* Fiber.join(waiting), { holds: 0, lots: 0, credits: 0 })
      assert.deepStrictEqual(yield* sql`SELECT FROM ledger_account WHERE id = ${account}`, [])
    }))
})
