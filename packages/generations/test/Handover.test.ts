/** What a worker that lets go of a job leaves to the next. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { type JobHandler, Worker } from "@kinora/scheduler"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Generations } from "../src/Generations.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { layerMemory, openAccount, request } from "./Assembly.ts"

layer(layerMemory)("the work of a job", (it) => {
  it.effect("goes on when its worker has to stop, and the next worker awaits it (D51)", () =>
    Effect.gen(function*() {
      const { wait } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      const first = yield* Scope.make()
      yield* Scope.provide(startImpatientWorker, first)
      yield* control.called("submit", id)
      yield* control.called("poll", id)
      yield* Scope.close(first, Exit.void)

      yield* startImpatientWorker
      yield* control.succeed(id)
      const done = yield* wait(account.id, id, "60 seconds")
      assert.deepStrictEqual([done.status, done.failure], ["completed", null])
      const calls = (yield* control.calls).filter((call) => call.id === id).map(({ method }) => method)
      assert.strictEqual(calls.filter((method) => method === "submit").length, 1)
      assert.notInclude(calls, "cancel")
    }).pipe(Effect.scoped, TestClock.withLive))

  it.effect("is stopped when the job's time is over (D12)", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* startImpatientWorker
      yield* control.called("poll", id)
      // The model's time limit.
      yield* TestClock.adjust("5 minutes")
      yield* control.called("cancel", id)
      while ((yield* get(account.id, id)).status === "processing") yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* get(account.id, id)).failure?.code, "time_limit")
    }).pipe(Effect.scoped))
})

const create = Effect.fnUntraced(function*(account: Parameters<typeof request>[0]) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account))).generation.id
})

/** A worker that gives its jobs back at once when its scope closes. */
const startImpatientWorker = Effect.gen(function*() {
  const handler: JobHandler.JobHandler = yield* GenerationWorker.makeHandler({})
  yield* Layer.build(Worker.layer({ name: "impatient", handlers: [handler], concurrency: 1, grace: 0 }))
})
