import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { layerMemory, MemoryBackend, UnitOfWork } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import { suite } from "./UnitOfWorkContract.ts"

suite("memory", Cells.layerMemory.pipe(Layer.provideMerge(layerMemory)))

it.effect("keeps readers outside a unit from seeing what it has not committed", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const memory = yield* MemoryBackend
    const cells = memory.makeMap<string, number>()
    const written = yield* Deferred.make<void>()
    const mayCommit = yield* Deferred.make<void>()
    const writer = yield* Effect.forkChild(
      atomically(
        memory.access(() => cells.set("a", 1)).pipe(
          Effect.andThen(Deferred.succeed(written, undefined)),
          Effect.andThen(Deferred.await(mayCommit)),
          Effect.andThen(Effect.fail("no"))
        )
      ).pipe(Effect.exit)
    )
    yield* Deferred.await(written)
    const reader = yield* Effect.forkChild(memory.access(() => cells.get("a")))
    yield* Deferred.succeed(mayCommit, undefined)
    yield* Fiber.join(writer)
    assert.isUndefined(yield* Fiber.join(reader))
  }).pipe(Effect.provide(layerMemory)))
