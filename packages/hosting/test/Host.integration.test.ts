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
const terms = { worker: "test", kinds: [kind.name], limit: 10, lease: "1 hour" } as const

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
          assert.strictEqual((yield* scheduler.claim(terms)).length, 1)
          assert.deepStrictEqual(yield* scheduler.rescue(terms), { requeued: [], exhausted: [] })
        })
      )
      const { requeued } = yield* inProcess((scheduler) => scheduler.rescue(terms))
      assert.deepStrictEqual(requeued.map(({ job }) => job), [job])
    }).pipe(Effect.scoped),
  180_000
)
