/** Two processes of one database, with workers that never poll. */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Queue, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Scheduler from "../src/Scheduler.ts"
import * as Worker from "../src/Worker.ts"

const Render = JobKind.make({ name: "announced", payload: Schema.String })

/** Enqueues jobs in one process, and waits until the worker of the other has run them. */
export const startsJobsOfOthers = Effect.fnUntraced(
  function*(first: Client, second: Client) {
    const start = (client: Client) => Layer.build(Layer.provide(Layer.fresh(Scheduler.layerPostgres()), client))
    const here = yield* start(first)
    const there = yield* start(second)
    const ran = yield* Queue.unbounded<string>()
    const handler = JobHandler.make({
      kind: Render,
      run: ({ payload }) => Queue.offer(ran, payload),
      failed: () => Effect.succeed(false)
    })
    const worker = { name: "worker-1", pollInterval: "1 hour", lease: "1 hour", handlers: [handler] } as const
    yield* Effect.provideContext(Layer.build(Worker.layer(worker)), here)
    const { enqueue } = Context.get(there, Scheduler.Scheduler)
    for (const payload of ["dawn", "noon"]) {
      yield* enqueue({ job: crypto.randomUUID(), lane: "ada", group: "ada", cap: 1, kind: Render, payload })
      assert.strictEqual(yield* Queue.take(ran), payload)
    }
  }
)

type Client = Layer.Layer<SqlClient.SqlClient, SqlError.SqlError>
