/** A server on Postgres whose database or files refuse all writes for a while, as when they are read-only or full. */
import { PgClient, PgPool } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Generator } from "@kinora/generator"
import { Http, Stores } from "@kinora/hosting"
import { Migrations, Pipelining } from "@kinora/persistence"
import { BlobStore } from "@kinora/storage"
import * as Faults from "@kinora/testkit/Faults"
import * as FaultySqlClient from "@kinora/testkit/FaultySqlClient"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { png } from "@kinora/testkit/upstreams/Results"
import { Effect, Latch, Layer, Record, Redacted, Schedule, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as FaultyBlobStore from "../src/stories/FaultyBlobStore.ts"

const picture = { mime: "image/png", bytes: png.bytes } as const
const models = FileGenerator.models({ "quick": picture, "held": picture })

/** Completes jobs of `quick` at once, and those of `held` when the latch opens. */
const generatorOf = (latch: Latch.Latch) => {
  let jobs = 0
  return Layer.succeed(Generator.Generator, {
    resubmit: "safe",
    submit: ({ model }) => Effect.sync(() => `${model.name} ${jobs++}`),
    poll: () => Effect.succeed(Generator.succeeded),
    cancel: () => Effect.void,
    collect: (operation) =>
      Effect.as(
        typeof operation === "string" && operation.startsWith("held") ? latch.await : Effect.void,
        { mime: "image/png", body: Stream.succeed(png.bytes) }
      )
  })
}

/** Starts a host whose stores are in this condition. */
const startHost = Effect.fnUntraced(function*(condition: Faults.Condition, latch: Latch.Latch) {
  const options = { url: Redacted.make(yield* TestDatabase.postgresUrl), maxConnections: 8 }
  const client = yield* Layer.build(PgClient.layer(options))
  yield* Effect.provideContext(Migrations.run(Stores.migrations), client)
  const faults = Faults.make(condition)
  const pool = yield* PgPool.make({ ...options, multiplex: true, multiplexConcurrency: 1 })
  const sql = Layer.succeedContext(
    yield* FaultySqlClient.layer({ faults, pipelining: { pool, over: Pipelining.over<SqlClient.SqlClient> } }).pipe(
      Layer.provide(Layer.succeedContext(client)),
      Layer.build
    )
  )
  const blobs = Layer.succeedContext(
    yield* Layer.build(Layer.provide(FaultyBlobStore.layer(faults), BlobStore.layerMemory))
  )
  const host = LocalHost.layer({
    models,
    generator: generatorOf(latch),
    blobs,
    stores: Layer.provide(Stores.layerSql, sql),
    readiness: Layer.provide(Http.layerReadiness, Layer.merge(sql, blobs))
  })
  return { context: yield* Layer.build(host), faults }
})

/** Statuses of the requests while the stores refuse writes, by their names. Each 503 has the envelope and `Retry-After`. */
type Statuses = { readonly [name in keyof ReturnType<typeof requestsOf>]: number }

/** Reads that count nothing succeed. All requests with a key count towards its rate limit. */
const whileDatabaseRefuses: Statuses = {
  create: 503,
  get: 503,
  list: 503,
  cancel: 503,
  upload: 503,
  content: 503,
  unchanged: 304,
  ready: 503,
  healthy: 200
}

/** Jobs are accepted, and wait for their results. */
const whileFilesRefuse: Statuses = {
  create: 201,
  get: 200,
  list: 200,
  cancel: 409,
  upload: 503,
  content: 200,
  unchanged: 304,
  ready: 503,
  healthy: 200
}

/** Requests of a client with a completed job, whose file is at this URL, and a running one. */
const requestsOf = (client: Client.Client, baseUrl: string, completed: Client.Job, running: Client.Job) => {
  const url = completed.output?.url ?? ""
  return {
    create: client.create({ model: "quick", prompt: "meanwhile", idempotencyKey: "meanwhile" }),
    get: client.request(`/v1/generations/${completed.id}`),
    list: client.request("/v1/generations"),
    cancel: client.cancel(running.id),
    upload: client.request("/v1/uploads", {
      method: "POST",
      headers: { "content-type": "image/png" },
      body: Buffer.from(png.bytes)
    }),
    content: Client.send(url),
    unchanged: Client.send(url, { headers: { "if-none-match": "*" } }),
    ready: Client.send(`${baseUrl}/readyz`),
    healthy: Client.send(`${baseUrl}/healthz`)
  }
}

/** Asserts that each 503 has the envelope and `Retry-After`, and returns the status. */
const statusOf = (answer: Client.Answer): number => {
  if (answer.status === 503) {
    assert.strictEqual(Client.errorCodeOf(answer), "unavailable")
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
  }
  return answer.status
}

describe("a server whose stores refuse all writes for a while", { timeout: 300_000 }, () => {
  const cases = [["database", whileDatabaseRefuses], ["files", whileFilesRefuse]] as const
  for (const [part, expected] of cases) {
    for (const refusal of ["readOnly", "full"] as const) {
      it.live(`responds 503 to what needs them, and continues afterwards (${part}, ${refusal})`, () =>
        Effect.gen(function*() {
          const condition = Faults.working()
          const latch = yield* Latch.make()
          const { context, faults } = yield* startHost(condition, latch)
          const { key } = yield* Effect.provide(Books.openAccount({ credits: 100 }), context)
          const baseUrl = yield* Effect.provide(LocalHost.baseUrl, context)
          const client = Client.make(baseUrl, key)
          const { id } = yield* client.createJob({ model: "quick", prompt: "before" })
          const completed = yield* client.awaitEnd(id)
          const running = yield* Effect.repeat(client.createJob({ model: "held", idempotencyKey: "held" }), {
            until: ({ status }) => status === "processing",
            schedule: Schedule.spaced("50 millis")
          })
          const requests = requestsOf(client, baseUrl, completed, running)
          const send = Effect.map(Effect.all(requests), (answers) => Record.map(answers, statusOf))

          condition[part] = refusal
          assert.deepStrictEqual(yield* send, expected)
          const hits = faults.hits()
          yield* latch.open
          // The worker stores the result, and then ends the job.
          yield* Effect.repeat(Effect.sync(() => faults.hits()), {
            until: (now) => now > hits,
            schedule: Schedule.spaced("20 millis")
          })
          // The same request again finds its job.
          assert.deepStrictEqual(yield* send, { ...expected, create: part === "files" ? 200 : 503 })

          condition[part] = undefined
          assert.strictEqual((yield* client.awaitEnd(running.id)).status, "completed")
          const created = Client.jobOf(yield* requests.create)
          assert.strictEqual((yield* client.awaitEnd(created.id)).status, "completed")
          const after = yield* send
          assert.deepStrictEqual([after.list, after.upload, after.content, after.ready], [200, 201, 200, 200])
          const { problems, totals } = yield* Effect.provide(Books.verify, context)
          assert.deepStrictEqual([problems, totals.consumed, totals.held], [[], 3, 0])
        }).pipe(Effect.scoped))
    }
  }
})
