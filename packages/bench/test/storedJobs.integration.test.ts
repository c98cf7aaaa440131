/** The rows that the benchmarks of sizes store without the services. */
import { assert, it } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { Scheduler } from "@kinora/scheduler"
import { Effect, Layer, Schema } from "effect"
import { cap } from "../src/JobQueue.ts"
import * as KinoraQueue from "../src/KinoraQueue.ts"
import * as KinoraServer from "../src/KinoraServer.ts"
import * as KinoraServices from "../src/KinoraServices.ts"
import * as PostgresServer from "../src/PostgresServer.ts"
import * as StoredJobs from "../src/StoredJobs.ts"
import { makeEnvironment } from "./makeEnvironment.ts"

const Job = Schema.Struct({ id: Schema.String })
const Page = Schema.Struct({ data: Schema.Array(Job) })

it.live(
  "an account lists its stored jobs by status and kind, reads them, and its books agree",
  () =>
    Effect.gen(function*() {
      const server = yield* KinoraServer.make(yield* makeEnvironment, { workers: 0 })
      const stored = yield* StoredJobs.make(server, 20 * StoredJobs.accountCount)
      const { key } = stored.accounts[7]!
      const get = (path: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${server.origin}/v1/generations${path}`, {
            headers: { authorization: `Bearer ${key}` }
          })
          assert.strictEqual(response.status, 200, path)
          return response.json()
        })
      const countOf = (query: string) =>
        Effect.map(get(query), (page) => Schema.decodeUnknownSync(Page)(page).data.length)
      assert.strictEqual(yield* countOf(""), 20)
      assert.strictEqual(yield* countOf("?status=failed&kind=image"), 2)
      assert.strictEqual(yield* countOf("?status=completed&kind=video"), 10)

      const sample = yield* stored.sample(20 * StoredJobs.accountCount)
      assert.deepStrictEqual(sample.map((ids) => ids.length), stored.accounts.map(() => 20))
      const id = sample[7]![0]!
      assert.strictEqual(Schema.decodeUnknownSync(Job)(yield* get(`/${id}`)).id, id)

      const services = yield* Layer.build(KinoraServices.layer(server.database))
      const { discrepancies } = yield* Ledger.Ledger.use((ledger) => ledger.verify()).pipe(
        Effect.provideContext(services)
      )
      assert.deepStrictEqual(discrepancies, [])
    }),
  600_000
)

it.live("jobs that are added behind taken slots agree with the counters of their lanes", () =>
  Effect.gen(function*() {
    const queue = yield* KinoraQueue.make(yield* makeEnvironment)
    yield* queue.fill(3 * cap, 3)
    yield* KinoraQueue.addPending(queue.database, 100, 3)
    const services = yield* Layer.build(KinoraServices.layer(queue.database))
    const drifts = yield* Scheduler.Scheduler.use(({ verify }) => verify).pipe(Effect.provideContext(services))
    assert.deepStrictEqual(drifts, [])
    const rows = yield* Effect.promise(() =>
      PostgresServer.withClient(queue.database, async (client) =>
        (await client.query("SELECT sum(held)::int AS held, sum(waiting)::int AS waiting FROM scheduler_lane")).rows)
    )
    assert.deepStrictEqual(rows, [{ held: 3 * cap, waiting: 100 }])
  }), 600_000)
