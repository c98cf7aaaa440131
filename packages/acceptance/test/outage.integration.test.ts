/** A database that drops all connections: repeatedly, as during a failover, or since it becomes read-only for a while. */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

const models = [Drill.model({ id: "drill-short", delay: "300 millis" })]
const accountCount = 6
const ordersPerAccount = 24
/** Connections are dropped after this many accepted jobs. While the server connects again, many requests receive 503. */
const acceptedPerDrop = 15
const adminToken = "the-operator-of-a-server-with-a-read-only-database"

it.live("clients receive 503 at worst, and every accepted job completes once", () =>
  Effect.gen(function*() {
    const site = yield* makeSite("Postgres", models)
    const server = yield* Program.startServer(site.environment)
    const accounts = yield* Books.use(site, Books.openAccounts(accountCount, { credits: 100 }))
    const accepted = yield* Queue.unbounded<void>()

    /** Repeats a request with one key until it is accepted. */
    const order = (client: Client.Client, n: number) =>
      client.create({ model: "drill-short", idempotencyKey: `order ${n}` }).pipe(
        Effect.tap(({ status }) => Effect.sync(() => assert.include([200, 201, 429, 503], status))),
        Effect.repeat({ until: ({ status }) => status < 400 }),
        Effect.tap(() => Queue.offer(accepted, undefined)),
        Effect.map(Client.jobOf)
      )
    const ordering = yield* Effect.forkChild(Effect.forEach(accounts, ({ key }) => {
      const client = Client.make(server.baseUrl, key)
      return Effect.map(
        Effect.forEach(Array.from({ length: ordersPerAccount }), (_, n) => order(client, n)),
        (jobs) => jobs.map(({ id }) => ({ id, client }))
      )
    }, { concurrency: "unbounded" }))
    for (let drop = 0; drop < 6; drop++) {
      yield* Queue.takeN(accepted, acceptedPerDrop)
      assert.isAbove(yield* connected(site.databaseUrl, dropConnections), 0)
    }

    const jobs = (yield* Fiber.join(ordering)).flat()
    assert.strictEqual(new Set(jobs.map(({ id }) => id)).size, accountCount * ordersPerAccount)
    const ended = yield* Effect.forEach(jobs, ({ client, id }) => client.awaitEnd(id), {
      concurrency: Client.longPollsMax
    })
    for (const { status } of ended) assert.strictEqual(status, "completed")
    assert.strictEqual((yield* server.stop).code, 0)
    const { problems, totals } = yield* Books.use(site, Books.verify)
    assert.deepStrictEqual([problems, totals.consumed], [[], jobs.length])
  }), { timeout: 600_000 })

it.live(
  "refuses jobs without a charge while its database is read-only, and continues afterwards",
  () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", [Drill.model({ id: "drill", delay: "1 second" })])
      const server = yield* Program.startServer({ ...site.environment, KINORA_ADMIN_TOKEN: adminToken })
      const { key } = yield* Books.use(site, Books.openAccount({ credits: 100 }))
      const client = Client.make(server.baseUrl, key)
      const ready = Client.send(`${server.baseUrl}/readyz`)
      const create = client.create({ model: "drill", prompt: "meanwhile", idempotencyKey: "meanwhile" })
      /** Reads a job as an operator, whose requests count towards no limit. */
      const read = (id: string) =>
        Client.send(`${server.baseUrl}/admin/v1/generations/${id}`, {
          headers: { authorization: `Bearer ${adminToken}` }
        })
      const { id } = yield* client.createJob({ model: "drill", prompt: "before" })
      assert.strictEqual((yield* client.awaitEnd(id)).status, "completed")
      assert.strictEqual((yield* Client.untilAvailable(ready)).status, 200)
      // It ends while nothing can be written, and is settled afterwards.
      const running = yield* client.createJob({ model: "drill", prompt: "running" })

      yield* connected(site.databaseUrl, setReadOnly(true))
      // The first requests notice that their connections are lost.
      assert.strictEqual((yield* Client.untilAvailable(read(id))).status, 200)
      // Requests of a key count towards its limit. The server can have counted the first ones in advance.
      const readWithKey = client.request(`/v1/generations/${id}`)
      yield* Effect.repeat(readWithKey, { while: ({ status }) => status === 200 })
      for (let round = 0; round < 5; round++) {
        assertUnavailable(yield* create)
        assertUnavailable(yield* readWithKey)
        const notReady = yield* ready
        assertUnavailable(notReady)
        assert.include(new TextDecoder().decode(notReady.bytes), `"not_ready":["database"]`)
        assert.strictEqual((yield* read(id)).status, 200)
      }

      yield* connected(site.databaseUrl, setReadOnly(false))
      const created = Client.jobOf(yield* Client.untilAvailable(create))
      assert.strictEqual((yield* client.awaitEnd(created.id)).status, "completed")
      assert.strictEqual((yield* client.awaitEnd(running.id)).status, "completed")
      assert.strictEqual(Client.jobOf(yield* create).id, created.id)
      assert.strictEqual((yield* Client.untilAvailable(ready)).status, 200)
      assert.strictEqual((yield* server.stop).code, 0)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed, totals.held], [[], 3, 0])
    }),
  { timeout: 600_000 }
)

const assertUnavailable = (answer: Client.Answer) => {
  assert.strictEqual(answer.status, 503, new TextDecoder().decode(answer.bytes))
  assert.strictEqual(Client.errorCodeOf(answer), "unavailable")
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}

/** Runs an effect on a connection of its own. */
const connected = <A, E>(url: string, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(effect, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))

/** Ends all other sessions of the database, at most 10 seconds each, and returns their number. */
const dropConnections = Effect.map(
  SqlClient.SqlClient.use((sql) =>
    sql`
      SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `
  ),
  ({ length }) => length
)

/** Makes the transactions of all sessions read-only, or not. */
const setReadOnly = (isReadOnly: boolean) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    // This session has the setting of the database too.
    yield* sql`SET default_transaction_read_only = off`
    const [row] = yield* sql<{ readonly name: string }>`SELECT current_database() AS name`
    const value = sql.literal(isReadOnly ? "on" : "off")
    yield* sql`ALTER DATABASE ${sql(row!.name)} SET default_transaction_read_only = ${value}`
    yield* dropConnections
  })
