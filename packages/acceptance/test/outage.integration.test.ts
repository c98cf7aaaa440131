/** A database that drops all connections repeatedly, as during a failover. */
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
      assert.isAbove(yield* dropConnections(site.databaseUrl), 0)
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

/** Ends all other sessions of the database and returns their number. */
const dropConnections = (url: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const ended = yield* sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    `
    return ended.length
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
