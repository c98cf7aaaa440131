/** Concurrent operations of every kind on one Postgres: no deadlock, every job ends, and the ledger is consistent. */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Books from "../src/Books.ts"
import * as MixedLoad from "../src/MixedLoad.ts"
import { makeSite } from "./sites.ts"

const duration = "20 seconds"
const clients = 32

it.live("32 clients create, repeat, await and cancel jobs without a deadlock", () =>
  Effect.gen(function*() {
    const site = yield* makeSite("Postgres", MixedLoad.models)
    const { tally } = yield* MixedLoad.run(site, { duration, clients })
    // Every operation and every outcome occurred.
    for (const what of ["created", "replayed", "cancelled", "ended completed", "ended failed", "ended cancelled"]) {
      assert.isAbove(tally[what] ?? 0, 0, `${what} in ${JSON.stringify(tally)}`)
    }
    const ended = ["completed", "failed", "cancelled"].reduce((sum, how) => sum + (tally[`ended ${how}`] ?? 0), 0)
    assert.strictEqual(ended, tally["created"])
    const { problems } = yield* Books.use(site, Books.verify)
    assert.deepStrictEqual(problems, [])
    assert.strictEqual(yield* deadlocksOf(site.databaseUrl), 0)
  }), { timeout: 600_000 })

/** Deadlocks that Postgres has counted in this database. Its sessions have ended, and so have reported theirs. */
const deadlocksOf = (url: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly deadlocks: number }>`
      SELECT deadlocks::int4 AS deadlocks FROM pg_stat_database WHERE datname = current_database()
    `
    return rows[0]?.deadlocks
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
