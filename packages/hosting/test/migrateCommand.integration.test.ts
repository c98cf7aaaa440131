/** The command `kinora-migrate` over the packages that programs embed. */
import { assert, it } from "@effect/vitest"
import { createApiKeys } from "@kinora/api-keys/promise"
import { createIdempotency } from "@kinora/idempotency/promise"
import { createLedger } from "@kinora/ledger/promise"
import { Migrations } from "@kinora/persistence"
import * as External from "@kinora/persistence/external"
import { createLimits } from "@kinora/rate-limit/promise"
import { migrations as schedulerMigrations } from "@kinora/scheduler/migrations"
import { createScheduler } from "@kinora/scheduler/promise"
import { PgProgram } from "@kinora/testkit"
import { createWebhooks } from "@kinora/webhooks/promise"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as SchemaDescription from "./SchemaDescription.ts"

const packages = ["ledger", "rate-limit", "idempotency", "scheduler", "webhooks", "api-keys"]
const schema = "billing"

const main = fileURLToPath(new URL("../../persistence/src/internal/migrate/main.ts", import.meta.url))

/** Runs the command in the directory of this package, which depends on the others. */
const call = (args: ReadonlyArray<string>, url?: string) =>
  Effect.callback<{ readonly exitCode: number | string; readonly stdout: string; readonly stderr: string }>(
    (resume) => {
      execFile(
        process.execPath,
        ["--conditions=@kinora/source", main, ...args],
        { cwd: fileURLToPath(new URL("..", import.meta.url)), env: { ...process.env, DATABASE_URL: url } },
        (error, stdout, stderr) => resume(Effect.succeed({ exitCode: error?.code ?? 0, stdout, stderr }))
      )
    }
  )

const open = Effect.gen(function*() {
  const { pool, url } = yield* Effect.acquireRelease(
    Effect.promise(PgProgram.open),
    (program) => Effect.promise(program.close)
  )
  const query = (text: string) => Effect.promise(async () => (await pool.query<Record<string, unknown>>(text)).rows)
  return { pool, query, url }
})

type Query = Effect.Success<typeof open>["query"]

/** Everything in the schema, as Postgres describes it, and the records of migrations. */
const descriptionOf = (query: Query) =>
  query(`
    ${SchemaDescription.queryOf(schema)}
    ${
    packages.map((name) => name.replaceAll("-", "_")).map((name) => `
      UNION ALL SELECT '${name}', string_agg(migration_id || ' ' || name, ', ' ORDER BY migration_id)
      FROM ${schema}.${name}_migrations`).join("")
  }
    ORDER BY 1, 2
  `)

it.live(
  "writes SQL that leaves the same database as running the migrations, which every package then uses",
  () =>
    Effect.gen(function*() {
      const run = yield* open
      const up = yield* call(["up", ...packages, "--schema", schema], run.url)
      assert.deepInclude(up, { exitCode: 0, stderr: "" })
      assert.include(up.stdout, "ledger: from migration 0 to 6\n")

      const written = yield* open
      const absent = yield* call(["status", "ledger", "--schema", schema], written.url)
      assert.deepInclude(absent, { exitCode: 3, stderr: "" })
      assert.match(absent.stdout, /^PACKAGE +DATABASE +PACKAGE HAS +STATE\nledger +0 +6 +not installed\n$/)
      const { stdout: sql } = yield* call(["sql", ...packages, "--schema", schema])
      // Several statements in one text are one transaction.
      yield* written.query(sql)
      const description = yield* descriptionOf(run.query)
      assert.isAbove(description.length, 150)
      assert.deepStrictEqual(yield* descriptionOf(written.query), description)

      const status = yield* call(["status", ...packages, "--schema", schema, "--json"], written.url)
      assert.strictEqual(status.exitCode, 0)
      const states = JSON.parse(status.stdout) as ReadonlyArray<{ readonly package: string; readonly state: string }>
      assert.deepStrictEqual(
        states.map(({ package: name, state }) => [name, state]),
        packages.map((name) => [name, "up to date"])
      )

      const storage = { pool: written.pool, schema }
      yield* Effect.promise(async () => {
        await using ledger = await createLedger(storage)
        assert.strictEqual((await ledger.balances({ account: "ada" })).credits, 0)
        await using limits = await createLimits(storage)
        assert.isTrue((await limits.hit({ key: "ada", limit: 1 })).accepted)
        await using idempotency = await createIdempotency(storage)
        assert.strictEqual((await idempotency.find({ scope: "ada", key: "k", body: null }))._tag, "None")
        await using scheduler = await createScheduler(storage)
        assert.deepStrictEqual(await scheduler.verify(), [])
        await using webhooks = await createWebhooks({ ...storage, keys: ["a key of at least thirty-two bytes"] })
        assert.deepStrictEqual(await webhooks.list({ account: "ada" }), [])
        await using keys = await createApiKeys(storage)
        const { key } = await keys.create({ owner: "ada", name: "laptop" })
        assert.strictEqual((await keys.verify({ key }))?.owner, "ada")
      })
      assert.deepStrictEqual(yield* descriptionOf(written.query), description)

      const { stdout: removal } = yield* call(["down", ...packages, "--schema", schema])
      yield* written.query(removal)
      assert.deepStrictEqual(
        yield* written.query(`
        SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
      `),
        []
      )
    }),
  60_000
)

it.live("writes the migrations after one, for a database that has those before", () =>
  Effect.gen(function*() {
    const { pool, query, url } = yield* open
    const placed = Migrations.inSchema(schedulerMigrations, schema)
    const older = {
      ...placed,
      migrations: Object.fromEntries(Object.entries(placed.migrations).slice(0, 7)),
      indexes: {}
    }
    yield* Effect.provide(Migrations.run([older]), External.layerPg(pool))
    const pending = yield* call(["status", "scheduler", "--schema", schema], url)
    assert.strictEqual(pending.exitCode, 3)
    assert.match(pending.stdout, /scheduler +7 +\d+ +pending/)
    const { stdout: sql } = yield* call(["sql", "scheduler", "--schema", schema, "--after", "7"])
    yield* query(sql)
    yield* Effect.provide(Migrations.check([placed]), External.layerPg(pool))
    // The database is not at migration 7 any more.
    const again = yield* Effect.promise(() => pool.query(sql).catch((error: unknown) => error))
    assert.instanceOf(again, Error)
    assert.include(again.message, "at migration 7")
  }), 60_000)
