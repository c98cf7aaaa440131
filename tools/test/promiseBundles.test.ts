/** Bundles of promise APIs beside each other, and beside the program's own `effect`. */
import * as OtelMetrics from "@effect/opentelemetry/OtelMetrics"
import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import type * as IdempotencyApi from "@kinora/idempotency/promise"
import type * as LedgerApi from "@kinora/ledger/promise"
import * as External from "@kinora/persistence/external"
import * as Migrations from "@kinora/persistence/Migrations"
import type * as LimitsApi from "@kinora/rate-limit/promise"
import { createScheduler as createSchedulerOfSource } from "@kinora/scheduler/promise"
import type * as SchedulerApi from "@kinora/scheduler/promise"
import * as PgPool from "@kinora/testkit/PgPool"
import * as PgProgram from "@kinora/testkit/PgProgram"
import { trace } from "@opentelemetry/api"
import { MetricReader } from "@opentelemetry/sdk-metrics"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer } from "effect"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, it } from "vitest"
import { bundle } from "../promiseBundles.ts"

const packages = resolve(import.meta.dirname, "../../packages")
const names = ["api-keys", "idempotency", "ledger", "rate-limit", "scheduler", "storage", "webhooks"]
let directory: string

beforeAll(async () => {
  // They find their dependencies from here.
  const cache = resolve(packages, "../node_modules/.cache")
  await mkdir(cache, { recursive: true })
  directory = await mkdtemp(join(cache, "kinora-bundles-"))
  for (const name of names) await bundle(join(packages, name), join(directory, name))
})

afterAll(() => rm(directory, { recursive: true }))

const load = <Api>(name: string, file = "promise.js"): Promise<Api> =>
  import(pathToFileURL(join(directory, name, file)).href) as Promise<Api>

it("import nothing that their package does not declare", async () => {
  const source = await mkdtemp(join(tmpdir(), "kinora-undeclared-"))
  await mkdir(join(source, "src"), { recursive: true })
  await writeFile(join(source, "src/promise.ts"), `export const load = () => import("pg")\n`)
  await writeFile(join(source, "package.json"), "{}")
  const error = await bundle(source).catch(String)
  assert.match(String(error), /does not declare pg$/)
  await writeFile(join(source, "package.json"), `{ "peerDependencies": { "pg": "8" } }`)
  await bundle(source)
  await rm(source, { recursive: true })
})

it("name what they contain, with its license", async () => {
  const licenses = await readFile(join(directory, "ledger/bundled-licenses.txt"), "utf8")
  assert.match(licenses, /^effect \d+\.\d+\.\d+\n\nMIT License\n\nCopyright \(c\) /m)
  assert.match(licenses, /^pg-types \d+\.\d+\.\d+\n\nThe MIT License/m)
})

it("take turns on a client of the program", async () => {
  const program = await PgProgram.open()
  const { createLedger } = await load<typeof LedgerApi>("ledger")
  const { createIdempotency } = await load<typeof IdempotencyApi>("idempotency")
  const ledger = await createLedger({ pool: program.pool, sweep: false })
  const idempotency = await createIdempotency({ pool: program.pool, sweep: false })
  await ledger.grant({
    account: "ada",
    reference: "order-1",
    kind: "addon",
    credits: 10,
    expiresAt: new Date("2100-01-01")
  })
  // Half of the charges are refused, which undoes the savepoint of the call.
  const charged = await program.inTransaction(async (tx) => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, async (_, n) => {
      const charge = ledger.charge({ account: "ada", reference: `job-${n}`, credits: 1, tx })
      const claim = idempotency.claim({ scope: "ada", key: `key-${n}`, body: null, reference: `job-${n}`, tx })
      const [{ status }, { status: claimed }] = await Promise.allSettled([charge, claim])
      return { status, claimed }
    }))
    assert.deepStrictEqual(outcomes.filter(({ claimed }) => claimed === "rejected"), [])
    return outcomes.filter(({ status }) => status === "fulfilled").length
  })
  assert.strictEqual(charged, 10)
  const { credits } = await ledger.balances({ account: "ada" })
  const { rows } = await program.pool.query("SELECT count(*)::int AS claims FROM idempotency_claim")
  assert.deepStrictEqual({ credits, rows }, { credits: 0, rows: [{ claims: 20 }] })
  await ledger.close()
  await idempotency.close()
  await program.close()
})

it("run after the commit of a transaction that they did not make", async () => {
  const program = await PgProgram.open()
  const { createScheduler } = await load<typeof SchedulerApi>("scheduler")
  const scheduler = await createScheduler({ pool: program.pool, listen: false })
  const ran = Promise.withResolvers<void>()
  await scheduler.work({ name: "worker-1", handlers: { print: { run: () => ran.resolve() } } })
  const tx = await program.inTransaction(async (client) => {
    const tx = External.fromPg(client)
    await scheduler.enqueue({ lane: "ada/print", group: "ada", cap: 1, kind: "print", payload: null, tx })
    return tx
  })
  assert.isNotEmpty(tx.afterCommit)
  await Effect.runPromise(External.committed(tx))
  assert.isEmpty(tx.afterCommit)
  await ran.promise
  await scheduler.close()
  await program.close()
})

it("leave a client of a pool to statements", async () => {
  const program = await PgProgram.open()
  const pool = PgPool.make(program.url, 2)
  const { createScheduler } = await load<typeof SchedulerApi>("scheduler")
  const ran = Promise.withResolvers<void>()
  const handlers = { print: { run: () => ran.resolve() } }
  const schedulers = await Promise.all([createScheduler({ pool }), createSchedulerOfSource({ pool })])
  // Each would listen on one of the two clients.
  for (const scheduler of schedulers) await scheduler.work({ name: "worker-1", handlers })
  await schedulers[0].enqueue({ lane: "ada/print", group: "ada", cap: 1, kind: "print", payload: null })
  await ran.promise
  for (const scheduler of schedulers) await scheduler.close()
  await pool.end()
  await program.close()
})

it("throw errors of which each class recognizes those of its copies", async () => {
  const ledger = await load<typeof LedgerApi>("ledger")
  const { StorageFailedError } = await load<typeof LimitsApi>("rate-limit")
  class OwnError extends StorageFailedError {}
  const error = await ledger.createLedger({ url: "postgres://127.0.0.1:1/none" }).catch((error: unknown) => error)
  assert.instanceOf(error, StorageFailedError)
  assert.notInstanceOf(error, OwnError)
  assert.notStrictEqual(ledger.StorageFailedError, StorageFailedError)
  assert.notInstanceOf(new Error("another"), StorageFailedError)
})

it("reject tables that a newer build has changed with an error of Migrations", async () => {
  const program = await PgProgram.open()
  const { createLedger } = await load<typeof LedgerApi>("ledger")
  await (await createLedger({ pool: program.pool, sweep: false })).close()
  await program.pool.query("INSERT INTO ledger_migrations (migration_id, name) VALUES (99, 'contract_lots')")
  const error = await createLedger({ pool: program.pool }).catch((error: unknown) => error)
  assert.instanceOf(error, Migrations.SchemaMismatch)
  await program.close()
})

it("export their spans and metrics by layers of the program's effect", async () => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  const reader = new Reader()
  const metrics = OtelMetrics.layer(() => reader).pipe(Layer.provide(Resource.layer({ serviceName: "program" })))
  const { createScheduler } = await load<typeof SchedulerApi>("scheduler")
  const scheduler = await createScheduler({ memory: true, telemetry: Layer.merge(OtelTracer.layerGlobal, metrics) })
  const ran = Promise.withResolvers<void>()
  await scheduler.work({ name: "worker-1", handlers: { print: { run: () => ran.resolve() } } })
  await scheduler.enqueue({ lane: "ada/print", group: "ada", cap: 1, kind: "print", payload: null })
  await ran.promise
  const { resourceMetrics } = await reader.collect()
  await scheduler.close()
  trace.disable()
  const names = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name))
  assert.include(names, "kinora_worker_slots")
  assert.include(exporter.getFinishedSpans().map(({ name }) => name), "Scheduler.load")
})

class Reader extends MetricReader {
  protected override onForceFlush = async () => {}
  protected override onShutdown = async () => {}
}
