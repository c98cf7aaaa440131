/** Accounts whose rows a transaction locks, and a server that is suspended in the middle of one. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"

const model = Drill.model({ id: "drill", delay: "1 millis" })

/** Two servers on one database, and accounts of which the tests lock the first. */
const makeServers = Effect.gen(function*() {
  const databaseUrl = yield* TestDatabase.postgresUrl
  const site = yield* Site.make({ databaseUrl, models: [model] })
  const first = yield* Program.startServer(site.environment)
  const second = yield* Program.startServer(site.environment)
  const accounts = yield* Books.use(site, Books.openAccounts(6, { credits: 1_000 }))
  const create = (server: Program.Server, key: string, prompt: string) =>
    Client.make(server.baseUrl, key).create({ model: model.id, prompt, idempotencyKey: prompt })
  const [locked, ...others] = accounts
  return { site, first, second, locked: locked!, others, create, ...yield* DatabaseLocks.connect(databaseUrl) }
})

it.live(
  "requests of a locked account get 503, and those of other accounts are created meanwhile",
  () =>
    Effect.gen(function*() {
      const { create, first, lock, locked, others, site } = yield* makeServers
      const unlock = yield* lock(`SELECT FROM ledger_account WHERE id = '${locked.id}' FOR UPDATE`)
      const waiting = yield* Effect.forkChild(create(first, locked.key, "locked"))
      for (let round = 0; round < 3; round++) {
        const created = yield* Effect.forEach(others, ({ key }) => create(first, key, `round ${round}`), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(new Set(created.map(({ status }) => status)), new Set([201]))
      }
      const refused = yield* Fiber.join(waiting)
      assert.strictEqual(refused.status, 503)
      assert.include(new TextDecoder().decode(refused.bytes), `"unavailable"`)
      yield* unlock
      assert.strictEqual((yield* create(first, locked.key, "unlocked")).status, 201)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], 3 * others.length + 1])
    }),
  { timeout: 120_000 }
)

it.live("a suspended server does not keep the locks of its transaction", () =>
  Effect.gen(function*() {
    const { create, first, locked, others, second, site, sql } = yield* makeServers
    // The claim of the key takes until the server is suspended. The statement that locks the account is sent with it.
    yield* sql("CREATE TABLE slow AS SELECT 1")
    yield* sql(`CREATE FUNCTION wait() RETURNS trigger AS $$
      BEGIN IF EXISTS (SELECT FROM slow) THEN PERFORM pg_sleep(2); END IF; RETURN NULL; END $$ LANGUAGE plpgsql`)
    yield* sql(`CREATE TRIGGER wait AFTER INSERT ON idempotency_claim FOR EACH ROW
      WHEN (new.scope = 'create:${locked.id}') EXECUTE FUNCTION wait()`)
    /** Waits for a session that matches the condition, and returns it. */
    const session = (condition: string) =>
      Effect.repeat(
        sql<{ readonly pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`
        ),
        { until: ({ length }) => length > 0 }
      )

    const suspended = yield* Effect.forkChild(create(first, locked.key, "suspended"))
    const [claiming] = yield* session("wait_event = 'PgSleep'")
    yield* Effect.acquireRelease(
      Effect.sync(() => process.kill(first.pid, "SIGSTOP")),
      () => Effect.sync(() => process.kill(first.pid, "SIGCONT"))
    )
    yield* sql("DELETE FROM slow")
    // Between two statements the session is idle for a moment too, but then it does not hold the lock yet.
    yield* session(`pid = ${claiming?.pid} AND state = 'idle in transaction'
      AND NOT EXISTS (SELECT FROM ledger_account WHERE id = '${locked.id}' FOR UPDATE SKIP LOCKED)`)
    const created = yield* Effect.forEach([...others, locked], ({ key }) => create(second, key, "beside"), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(created.map(({ status }) => status), Array.from(created, () => 201))

    process.kill(first.pid, "SIGCONT")
    const { status } = yield* Fiber.join(suspended)
    assert.include([201, 503], status)
    const { problems, totals } = yield* Books.use(site, Books.verify)
    assert.deepStrictEqual([problems, totals.consumed], [[], created.length + (status === 201 ? 1 : 0)])
  }), { timeout: 120_000 })
