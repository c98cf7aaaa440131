import { assert, it } from "@effect/vitest"
import { JobKind, Scheduler } from "@kinora/scheduler"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Schema } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Host from "../src/Host.ts"
import * as Settings from "../src/Settings.ts"

const kind = JobKind.make({ name: "test", payload: Schema.Struct({}) })
const job = "00000000-0000-4000-8000-000000000001"

/** Returns what a new worker asks for. */
const termsOf = Effect.fnUntraced(function*(scheduler: Scheduler.Scheduler["Service"], id: string) {
  const worker = { worker: "test", kinds: [kind.name] }
  return { ...worker, limit: 10, lease: yield* scheduler.takeLease({ ...worker, id, slots: 1, ttl: "1 hour" }) }
})

it.live(
  "takes over the jobs of the previous process immediately if the database is embedded",
  () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-host-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true }))
      )
      yield* TestDatabase.unpackPglite(join(directory, "database"))
      const settings = yield* Settings.load({ KINORA_DATA_DIR: directory })
      const inProcess = <A, E>(use: (scheduler: Scheduler.Scheduler["Service"]) => Effect.Effect<A, E>) =>
        Scheduler.Scheduler.use(use).pipe(Effect.provide(Layer.fresh(Host.layer(settings))))

      yield* inProcess((scheduler) =>
        Effect.gen(function*() {
          yield* scheduler.enqueue({ job, lane: "lane", group: "group", kind, payload: {}, cap: 1 })
          assert.strictEqual((yield* scheduler.claim(yield* termsOf(scheduler, "first"))).length, 1)
          const other = yield* termsOf(scheduler, "other")
          assert.deepStrictEqual(yield* scheduler.rescue(other), { requeued: [], exhausted: [] })
        })
      )
      const { requeued } = yield* inProcess((scheduler) => Effect.flatMap(termsOf(scheduler, "next"), scheduler.rescue))
      assert.deepStrictEqual(requeued.map(({ job }) => job), [job])
    }).pipe(Effect.scoped),
  180_000
)
