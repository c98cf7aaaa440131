import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { SkewedClock } from "@kinora/testkit"
import { Effect, Layer, Metric, Result } from "effect"
import { TestClock } from "effect/testing"
import { Generations } from "../src/Generations.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { AlreadyEnded, makeEndAll } from "../src/internal/end/endAll.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** Returns the counters, the number of observations of each histogram, and the sum where the test clock determines it. */
const counted = Effect.map(
  Metric.snapshot,
  (snapshots) =>
    Object.fromEntries(snapshots.flatMap((metric): ReadonlyArray<readonly [string, number]> => {
      const name = [metric.id.replace("kinora_", ""), ...Object.values(metric.attributes ?? {})].join(" ")
      if (!metric.id.startsWith("kinora_job")) return []
      if (metric.type === "Counter") return [[name, Number(metric.state.count)]]
      if (metric.type !== "Histogram") return []
      const { count, sum } = metric.state
      return metric.id === "kinora_job_wait_seconds" ? [[name, count], [`${name} in all`, sum]] : [[name, count]]
    }))
)

/** Metrics on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  const alone = services.pipe(Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())))

  layer(alone)(`Metrics of generations (${name})`, (it) => {
    it.effect("count each created and ended job once, and its wait and run time", () =>
      Effect.gen(function*() {
        const { cancel, create, wait } = yield* Generations
        const { dropStale } = yield* GenerationSweep
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 8 })
        const first = yield* create(yield* request(account, { key: "first" }))
        // A replay, and one that the credits do not pay.
        yield* create(yield* request(account, { key: "first" }))
        yield* Effect.flip(create(yield* request(account, { key: "second" })))
        const studio = { plan: "studio", model: "kinora-draft" } as const
        const cancelled = yield* create(yield* request(account, { key: "third", ...studio }))
        yield* cancel(account.id, cancelled.generation.id)
        yield* cancel(account.id, cancelled.generation.id)

        yield* TestClock.adjust("30 seconds")
        yield* control.succeed(first.generation.id)
        const done = yield* Effect.scoped(
          Effect.andThen(startWorker(1), wait(account.id, first.generation.id, "60 seconds"))
        )
        assert.strictEqual(done.status, "completed")
        const before = yield* counted
        assert.deepStrictEqual(before, {
          "jobs_created_total credits image": 1,
          "jobs_created_total studio image": 1,
          "jobs_ended_total studio image cancelled": 1,
          "jobs_ended_total credits image completed": 1,
          "job_wait_seconds credits": 1,
          "job_wait_seconds credits in all": 30,
          "job_run_seconds image completed": 1
        })
        assert.strictEqual(yield* dropStale(100), 0)
        assert.deepStrictEqual(yield* counted, before)
      }))

    it.effect("measure the wait of a job by the clock of the database", () =>
      Effect.gen(function*() {
        const { create, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 16 })
        for (const skew of [120_000, -120_000]) {
          const { generation } = yield* create(yield* request(account, { key: `waits ${skew}` }))
          yield* control.succeed(generation.id)
          const waited = Effect.map(counted, (metrics) => metrics["job_wait_seconds credits in all"] ?? 0)
          const before = yield* waited
          yield* TestClock.adjust("30 seconds")
          const start = SkewedClock.onHost(DatabaseTime.DatabaseClock, skew)(startWorker(1))
          yield* Effect.scoped(Effect.andThen(start, wait(account.id, generation.id, "60 seconds")))
          assert.strictEqual((yield* waited) - before, 30)
        }
      }))

    it.effect("exclude what was rolled back", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const endAll = yield* makeEndAll
        const account = yield* openAccount({ credits: 8 })
        const { generation } = yield* create(yield* request(account, { key: "stays" }))
        const before = yield* counted
        const ended = endAll([{ _tag: "Cancel", subject: generation }])
        yield* Effect.exit(atomically(Effect.andThen(ended, Effect.fail("undone"))))
        assert.deepStrictEqual(yield* counted, before)
        assert.deepStrictEqual(yield* ended, [Result.succeed(generation.id)])
        assert.deepStrictEqual(yield* ended, [Result.fail(new AlreadyEnded())])
        const after = before["jobs_ended_total credits image cancelled"] ?? 0
        assert.strictEqual((yield* counted)["jobs_ended_total credits image cancelled"], after + 1)
      }))
  })
}
