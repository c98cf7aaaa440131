/** Bundles of promise APIs beside each other, and beside the program's own `effect`. */
import * as OtelMetrics from "@effect/opentelemetry/OtelMetrics"
import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import type * as IdempotencyApi from "@kinora/idempotency/promise"
import type * as LedgerApi from "@kinora/ledger/promise"
import type * as LimitsApi from "@kinora/rate-limit/promise"
import type * as SchedulerApi from "@kinora/scheduler/promise"
import * as PgProgram from "@kinora/testkit/PgProgram"
import { trace } from "@opentelemetry/api"
import { MetricReader } from "@opentelemetry/sdk-metrics"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Layer } from "effect"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, it } from "vitest"
import { bundle } from "../promiseBundles.ts"

/** Packages that the program installs, and the dependencies of `scheduler`. */
const provided = new Set(["pg", "@noble/hashes/sha2.js", "@noble/hashes/utils.js"])

const packages = resolve(import.meta.dirname, "../../packages")
let directory: string

beforeAll(async () => {
  // Node loads modules below this folder, and Vite others.
  directory = await mkdtemp(resolve(packages, "../node_modules/.cache/kinora-bundles-"))
  for (const name of ["idempotency", "ledger", "rate-limit", "scheduler"]) {
    await bundle(join(packages, name), join(directory, name))
  }
})

afterAll(() => rm(directory, { recursive: true }))

const load = <Api>(name: string, file = "promise.js"): Promise<Api> =>
  import(pathToFileURL(join(directory, name, file)).href) as Promise<Api>

it("contain all but the modules of Node and the driver", async () => {
  const files = await readdir(directory, { recursive: true })
  const codes = await Promise.all(
    files.filter((file) => file.endsWith(".js")).map((file) => readFile(join(directory, file), "utf8"))
  )
  const imported = codes.flatMap((code) =>
    Array.from(
      code.matchAll(/^(?:import|export) .*from "([^.][^"]*)"|\bimport\("([^.][^"]*)"\)/gm),
      (match) => match[1] ?? match[2]!
    )
  )
  assert.deepStrictEqual(imported.filter((specifier) => !specifier.startsWith("node:") && !provided.has(specifier)), [])
  assert.isAbove(codes.length, 6)
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

it("throw errors of the database that are instances of one class", async () => {
  const ledger = await load<typeof LedgerApi>("ledger")
  const { StorageFailedError } = await load<typeof LimitsApi>("rate-limit")
  const error = await ledger.createLedger({ url: "postgres://127.0.0.1:1/none" }).catch((error: unknown) => error)
  assert.instanceOf(error, StorageFailedError)
  assert.notStrictEqual(ledger.StorageFailedError, StorageFailedError)
  assert.notInstanceOf(new Error("another"), StorageFailedError)
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
