/** How tables hold the ids of jobs. */
import { assert, it, layer } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { ids, makeWorld, refusal } from "../src/internal/contract/world.ts"
import { NotFound } from "../src/internal/reasons.ts"
import { keyOf } from "../src/internal/sql/jobIds.ts"
import { migrations } from "../src/migrations.ts"
import { layerPostgres, Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

layer(over(TestDatabase.postgres))("The keys of jobs", (it) => {
  it.effect("are the ids that are UUIDs, in any case, and UUIDs of version 8 otherwise", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const sql = yield* SqlClient.SqlClient
      const world = yield* makeWorld
      const uuid = crypto.randomUUID()
      const enqueued = [uuid, crypto.randomUUID().toUpperCase(), world.lane]
      for (const job of enqueued) yield* scheduler.enqueue(world.job({ job }))
      const rows = yield* sql<{ readonly id: string; readonly own_id: string | null }>`
        SELECT id, own_id FROM scheduler_job WHERE lane_id = ${world.lane} ORDER BY position
      `
      assert.deepStrictEqual(rows.map(({ own_id: own }) => own), [null, null, world.lane])
      assert.deepStrictEqual(rows.slice(0, 2).map(({ id }) => id), [uuid, enqueued[1]!.toLowerCase()])
      assert.match(rows[2]!.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(ids(yield* scheduler.find([enqueued[1]!])), [enqueued[1]!.toLowerCase()])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  it.effect("do not change", () =>
    Effect.sync(() => {
      // printf '%s' 'order 1' | sha256sum
      assert.strictEqual(keyOf("order 1"), "f3d6f0d5-5b05-8fde-b011-6c2eaffd74e9")
    }))

  it.effect("of a job whose id is a UUID is not taken for that of the text from which it could be derived", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const job = keyOf(world.lane)
      yield* scheduler.enqueue(world.job({ job }))
      assert.deepStrictEqual(yield* scheduler.find([world.lane]), [])
      assert.deepStrictEqual(yield* refusal(scheduler.cancel(world.lane)), new NotFound({ job: world.lane }))
      assert.deepStrictEqual(ids(yield* scheduler.find([world.lane, job])), [job])
      const other = yield* Effect.flip(scheduler.enqueue(world.job({ job: world.lane })))
      assert.strictEqual(other._tag, "StorageError")
      assert.deepInclude(yield* scheduler.cancel(job), { job })
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  it.effect("cancels a job by its UUID in upper case, as it finds it", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const job = "abcdef00-0000-4000-8000-000000000abc"
      const upper = job.toUpperCase()
      yield* scheduler.enqueue(world.job({ job }))
      assert.deepStrictEqual(ids(yield* scheduler.find([upper])), [job])
      assert.deepInclude(yield* scheduler.cancel(upper), { job, state: "queued" })
      assert.deepStrictEqual(yield* refusal(scheduler.cancel(upper)), new NotFound({ job: upper }))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
})

it.effect("keeps the jobs of an earlier schema, and gives new ones ids that are texts", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const earlier = Object.fromEntries(Object.entries(migrations.migrations).filter(([name]) => name < "0016"))
    yield* Migrations.run([{ ...migrations, migrations: earlier, indexes: {}, replacedIndexes: [] }])
    const uuid = crypto.randomUUID()
    const add = (job: string) =>
      sql`SELECT scheduler_add_job('draw', '1', 'lane', 'group', 2, run_at => to_timestamp(0), job => ${job}::${
        sql.literal(job === uuid ? "uuid" : "text")
      })`
    yield* add(uuid)
    const world = yield* makeWorld
    yield* Effect.gen(function*() {
      const scheduler = yield* Scheduler
      assert.isTrue(Result.isFailure(yield* Effect.result(add(uuid))))
      yield* add("order 1")
      assert.sameMembers(ids(yield* scheduler.find([uuid, "order 1"])), [uuid, "order 1"])
      assert.strictEqual(yield* scheduler.enqueueDue(10), 2)
      const claimed = yield* world.claim({ kinds: ["draw"] })
      assert.sameMembers(ids(claimed), [uuid, "order 1"])
      yield* Effect.forEach(claimed, scheduler.settle)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(Effect.provide(Layer.fresh(layerPostgres())))
  }).pipe(Effect.provide(TestDatabase.postgres)))
