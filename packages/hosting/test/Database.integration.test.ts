import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Certificates, TcpProxy, TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Fiber, FileSystem, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { pipeline } from "node:stream"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import * as Database from "../src/Database.ts"
import { definitions } from "../src/internal/settings/definitions.ts"

/** Builds the layers on a new database with a single migration. */
const migrateWith = Effect.fnUntraced(function*(
  migration: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>
) {
  const options = { url: Redacted.make(yield* TestDatabase.postgresUrl), dataDirectory: "unused" }
  const packages = [{
    namespace: "slow",
    migrations: { "0001_slow": Effect.flatMap(SqlClient.SqlClient, migration) }
  }]
  return yield* Layer.build(
    Layer.fresh(Database.layerMigrations(options, packages).pipe(Layer.provideMerge(Database.layer(options))))
  )
})

const limitsOf = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT
      current_setting('statement_timeout') AS statement,
      current_setting('lock_timeout') AS lock,
      current_setting('idle_in_transaction_session_timeout') AS idle,
      current_setting('transaction_timeout') AS transaction
  `

it.live("applies no statement timeout to migrations, and limits to the statements and transactions of requests", () =>
  Effect.gen(function*() {
    const seen: Array<unknown> = []
    const services = yield* migrateWith((sql) =>
      Effect.tap(limitsOf(sql), (rows) => Effect.sync(() => seen.push(...rows)))
    )
    assert.deepStrictEqual(seen, [{ statement: "0", lock: "300ms", idle: "1min", transaction: "0" }])
    const [limits] = yield* Effect.provide(Effect.flatMap(SqlClient.SqlClient, limitsOf), services)
    assert.deepStrictEqual(limits, { statement: "4s", lock: "300ms", idle: "1s", transaction: "14s" })
  }).pipe(Effect.scoped))

it.live("runs statements and units beside one that listens, with the fewest connections of the setting", () =>
  Effect.gen(function*() {
    const { database_pool_size: { schema } } = definitions
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(schema)("2")))
    assert.isTrue(Result.isSuccess(Schema.decodeUnknownResult(schema)("3")))
    const options = { url: Redacted.make(yield* TestDatabase.postgresUrl), dataDirectory: "unused", maxConnections: 3 }
    yield* Effect.gen(function*() {
      const pg = yield* PgClient.PgClient
      yield* pg.listen("channel")
      const unit = pg.withTransaction(Effect.andThen(pg`SELECT 1`, pg`SELECT pg_backend_pid() AS pid`))
      assert.strictEqual((yield* Effect.all([unit, unit, pg`SELECT 1`], { concurrency: "unbounded" })).length, 3)
    }).pipe(Effect.scoped, Effect.provide(Database.layer(options)))
  }).pipe(Effect.scoped))

it.live("rejects a database whose encoding is not UTF8", () =>
  Effect.gen(function*() {
    const url = new URL(yield* TestDatabase.postgresUrl)
    const name = `${url.pathname.slice(1)}_ascii`
    const run = (statement: string) =>
      PgClient.PgClient.use((pg) => pg.unsafe(statement)).pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))
      )
    yield* Effect.acquireRelease(
      run(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`),
      () => Effect.orDie(run(`DROP DATABASE ${name} WITH (FORCE)`))
    )
    const ascii = new URL(url)
    ascii.pathname = name
    const options = { url: Redacted.make(ascii.href), dataDirectory: "unused" }
    const error = yield* Effect.flip(Layer.build(Layer.fresh(Database.layer(options))))
    assert.strictEqual(error._tag, "DatabaseEncodingUnsupported")
    assert.match(error.message, /is SQL_ASCII, not UTF8\. Use one that was created with: CREATE DATABASE/)
  }).pipe(Effect.scoped))

it.live("reports that the database was lost during a migration", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(migrateWith((sql) => sql`SELECT pg_terminate_backend(pg_backend_pid())`))
    assert.strictEqual(error._tag, "DatabaseLost")
    assert.match(
      error.message,
      /^The database stopped responding during a migration \(\w+\)\. .* start again$/
    )
  }).pipe(Effect.scoped))

/** Begins a migration of one statement through a proxy. Its connections are silent for at most 1.25 s. */
const migrateThroughProxy = Effect.fnUntraced(
  function*(statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) {
    const target = yield* TestDatabase.postgresUrl
    const proxy = yield* TcpProxy.make(target)
    const options = { url: Redacted.make(proxy.url), statementMax: "1 second" } as const
    const begun = yield* Deferred.make<void>()
    const migration = SqlClient.SqlClient.use((sql) =>
      Effect.andThen(Deferred.succeed(begun, undefined), statement(sql))
    )
    const packages = [{ namespace: "slow", migrations: { "0001_slow": migration } }]
    const migrating = yield* Layer.build(Layer.fresh(Database.layerMigrations(options, packages))).pipe(
      // Only the migrations of an embedded database use it.
      Effect.provide(Database.layer({ url: Redacted.make(target), dataDirectory: "unused" })),
      Effect.forkScoped
    )
    // A migration that fails before its statement fails the test.
    yield* Effect.raceFirst(Deferred.await(begun), Fiber.join(migrating))
    return { proxy, migrating }
  }
)

it.live("does not limit a statement of a migration while Postgres works on it", () =>
  Effect.gen(function*() {
    const { migrating } = yield* migrateThroughProxy((sql) => sql`SELECT pg_sleep(3)`)
    yield* Fiber.join(migrating)
  }).pipe(Effect.scoped))

it.live("reports that the database was lost if it hangs during a migration", () =>
  Effect.gen(function*() {
    const { migrating, proxy } = yield* migrateThroughProxy((sql) => sql`SELECT pg_sleep(0.2)`)
    yield* proxy.hang
    assert.strictEqual((yield* Effect.flip(Fiber.join(migrating)))._tag, "DatabaseLost")
  }).pipe(Effect.scoped))

it.live("reports that the database was lost if only the connection of the migration hangs", () =>
  Effect.gen(function*() {
    const continues = yield* Deferred.make<void>()
    const { migrating, proxy } = yield* migrateThroughProxy((sql) =>
      Effect.andThen(Deferred.await(continues), sql`SELECT 1`)
    )
    yield* proxy.hangNext
    yield* Deferred.succeed(continues, undefined)
    assert.strictEqual((yield* Effect.flip(Fiber.join(migrating)))._tag, "DatabaseLost")
  }).pipe(Effect.scoped))

it.live("reports that the database does not respond if it hangs when the process starts", () =>
  Effect.gen(function*() {
    const proxy = yield* TcpProxy.make(yield* TestDatabase.postgresUrl)
    yield* proxy.hang
    const options = { url: Redacted.make(proxy.url), dataDirectory: "unused", statementMax: "200 millis" } as const
    const error = yield* Effect.flip(Layer.build(Layer.fresh(Database.layer(options))))
    assert.strictEqual(error._tag, "DatabaseUnavailable")
  }).pipe(Effect.scoped))

/** Answers the request for TLS of Postgres clients, and forwards what they send to a Postgres without TLS. */
const makeTlsFront = Effect.fnUntraced(function*(target: string, certificate: Certificates.Certificate) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    for (const socket of [client, upstream]) sockets.add(socket)
    client.once("data", () => {
      // Postgres closes connections that send nothing for a while, as while the proxy hangs.
      if (upstream.destroyed) {
        client.destroy()
        return
      }
      client.write("S")
      const secure = new TLSSocket(client, { isServer: true, ...certificate })
      pipeline(secure, upstream, secure, () => upstream.destroy())
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const url = new URL(target)
  url.hostname = "127.0.0.1"
  url.port = String((server.address() as AddressInfo).port)
  return url.href
})

/** Trusts an authority in this process until the scope closes. */
const trust = (ca: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates()
      setDefaultCACertificates([...before, ca])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )

/** Runs statements and units on all connections while Postgres responds, hangs, and responds again. */
const hangAndRecover = Effect.fnUntraced(function*(target: string, query: string, directory?: string) {
  const proxy = yield* TcpProxy.make(target, directory)
  const url = Redacted.make(`${proxy.url}${query}`)
  // Enough for statements of a busy machine. Those that hang take all of it.
  const options = { url, dataDirectory: "unused", statementMax: "2 seconds" } as const
  const services = yield* Layer.build(Layer.fresh(Database.layer(options)))
  const many = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const statement = Effect.result(sql`SELECT repeat('row', 30000)`)
    const unit = Effect.result(sql.withTransaction(sql`SELECT 1`))
    const results = yield* Effect.forEach(Array.from({ length: 20 }), (_, n) => n % 2 === 0 ? statement : unit, {
      concurrency: "unbounded"
    })
    return results.filter(Result.isSuccess).length
  }).pipe(Effect.provide(services))

  assert.strictEqual(yield* many, 20)
  yield* proxy.hang
  assert.strictEqual(yield* many, 0)
  yield* proxy.resume
  assert.strictEqual(yield* many, 20)
})

it.live("fails statements and units when Postgres stops responding, also on idle connections, and recovers", () =>
  Effect.gen(function*() {
    yield* hangAndRecover(yield* TestDatabase.postgresUrl, "")
  }).pipe(Effect.scoped))

it.live("does the same over a Unix socket", () =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const directory = yield* files.makeTempDirectoryScoped()
    yield* hangAndRecover(yield* TestDatabase.postgresUrl, "", directory)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))

it.live("does the same with TLS", () =>
  Effect.gen(function*() {
    const { ca, issue } = yield* Certificates.makeAuthority
    const certificate = yield* issue({ names: ["127.0.0.1"] })
    yield* trust(ca)
    const front = yield* makeTlsFront(yield* TestDatabase.postgresUrl, certificate)
    yield* hangAndRecover(front, "?sslmode=require")
  }).pipe(Effect.scoped))
