/** Delayed jobs: when they start, what they hold meanwhile, and who places them. */
import { assert, layer } from "@effect/vitest"
import { type Duration, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, startWorker } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Delayed jobs (${name})`, (it) => {
    it.effect("runs a delayed job on a worker that does not poll", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const ran: Array<number> = []
        const run = ({ payload }: { readonly payload: { readonly n: number } }) =>
          Effect.sync(() => ran.push(payload.n))
        const handler = JobHandler.make({ kind: world.kind, run, failed: () => Effect.succeed(0) })
        yield* startWorker({ name: "worker", handlers: [handler], pollInterval: "1 day", lease: "1 day" })
        const enqueue = (n: number, delay: Duration.Input) =>
          scheduler.enqueue({ ...world.job({ payload: { n } }), delay })
        /** Statements of databases end outside of the virtual time. */
        const until = (count: number) => Effect.repeat(TestClock.adjust(10), { until: () => ran.length === count })
        yield* enqueue(1, "1 hour")
        yield* TestClock.adjust("59 minutes")
        // Due earlier than the one that the worker waits for.
        yield* enqueue(2, "10 seconds")
        yield* until(1)
        assert.deepStrictEqual(ran, [2])
        yield* until(2)
        assert.deepStrictEqual(ran, [2, 1])
      }).pipe(Effect.scoped), 60_000)
  })
