import { assert, layer } from "@effect/vitest"
import { Catalog } from "@kinora/catalog/Catalog"
import { ScriptedGenerator } from "@kinora/generator"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Effect, type Layer, Option } from "effect"
import { Generations } from "../src/Generations.ts"
import { ModelPauses } from "../src/ModelPauses.ts"
import { ModelStatuses } from "../src/ModelStatuses.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const still = "kinora-still"

const statusOf = Effect.fnUntraced(function*(id: string) {
  const { find } = yield* Catalog
  const { current } = yield* ModelStatuses
  return (yield* current)(Option.getOrThrow(find(id))).status
})

/** Pauses of models on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Pauses of models (${name})`, (it) => {
    it.effect("reject new jobs, keep waiting ones in the queue, and let running ones end", () =>
      Effect.gen(function*() {
        const { create, get } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const { list, pause, resume } = yield* ModelPauses
        const account = yield* openAccount({ credits: 100 })
        const createNew = Effect.fnUntraced(function*(key: string, model = still) {
          return (yield* create(yield* request(account, { key, model }))).generation
        })
        const completed = (id: string) =>
          TestTime.until(Effect.map(get(account.id, id), ({ status }) => status === "completed"))

        const running = yield* createNew("running")
        yield* startWorker(1)
        yield* control.called("submit", running.id)
        const waiting = yield* createNew("waiting")
        const at = yield* DateTime.now
        yield* pause({ model: still, at })
        yield* pause({ model: still, at: DateTime.add(at, { hours: 1 }) })
        assert.deepStrictEqual(yield* list, [{ model: still, at }])
        yield* TestTime.pass("5 seconds")
        assert.strictEqual(yield* statusOf(still), "paused")
        assert.strictEqual(yield* statusOf("redraw-1"), "available")
        const refused = yield* Effect.flip(createNew("new"))
        assert.strictEqual(refused._tag === "GenerationError" && refused.reason._tag, "ModelUnavailable")

        yield* control.succeed(running.id)
        yield* completed(running.id)
        // A job of another model that was created later runs before the waiting one.
        const other = yield* createNew("other", "redraw-1")
        yield* control.succeed(other.id)
        yield* control.succeed(waiting.id)
        yield* completed(other.id)
        yield* TestTime.pass("15 seconds")
        assert.strictEqual((yield* get(account.id, waiting.id)).status, "queued")

        yield* resume([still])
        assert.deepStrictEqual(yield* list, [])
        yield* completed(waiting.id)
        yield* TestTime.pass("5 seconds")
        assert.strictEqual(yield* statusOf(still), "available")
      }).pipe(Effect.scoped))
  })
}
