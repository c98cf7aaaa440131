import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BroadcastChannel } from "node:worker_threads"
import * as DrawingPool from "../src/internal/DrawingPool.ts"
import type { Drawing } from "../src/internal/picture.ts"

const stubborn = new URL("./threads/stubborn.ts", import.meta.url)
const drawing = (prompt: string, key = "any"): Drawing => ({
  prompt,
  key,
  width: 64,
  height: 64,
  format: "png",
  seconds: null,
  references: []
})

/** Waits until a thread announces its start on the channel `key`. */
const began = (key: string) =>
  Effect.callback<void>((resume) => {
    const channel = new BroadcastChannel(key)
    channel.addEventListener("message", () => {
      channel.close()
      resume(Effect.void)
    }, { once: true })
    return Effect.sync(() => channel.close())
  })

it.effect("reuses a thread for the next drawing", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1, entry: stubborn })
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(1))
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(2))
  }))

it.effect("terminates the thread of an interrupted drawing", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1, entry: stubborn })
    const spinning = yield* Effect.forkChild(began("interrupted"), { startImmediately: true })
    const endless = yield* Effect.forkChild(pool.draw(drawing("spin", "interrupted")))
    yield* Fiber.join(spinning)
    yield* Fiber.interrupt(endless)
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(1))
  }))

it.effect("never runs more drawings than threads", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 2, entry: stubborn })
    const first = yield* Effect.forkChild(began("a"), { startImmediately: true })
    const second = yield* Effect.forkChild(began("b"), { startImmediately: true })
    const fibers = yield* Effect.forEach(["a", "b"], (key) => Effect.forkChild(pool.draw(drawing("spin", key))))
    yield* Fiber.join(first)
    yield* Fiber.join(second)
    const waiting = yield* Effect.forkChild(pool.draw(drawing("draw")), { startImmediately: true })
    assert.isUndefined(waiting.pollUnsafe())
    yield* Effect.forEach(fibers, Fiber.interrupt)
    assert.deepStrictEqual((yield* Fiber.join(waiting)).bytes, Uint8Array.of(1))
  }))

it.effect("repeats a drawing on a new thread if its thread dies", () =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "kinora-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
    const pool = yield* DrawingPool.make({ threads: 1, entry: stubborn })
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(1))
    assert.deepStrictEqual((yield* pool.draw(drawing("die once", join(folder, "died")))).bytes, Uint8Array.of(1))
  }))

it.effect("fails a drawing that kills every thread, and continues with the others", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1, entry: stubborn })
    const error = yield* Effect.flip(pool.draw(drawing("die")))
    assert.strictEqual(error._tag, "ThreadLost")
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(1))
  }))

it.effect("reports a thread that cannot start", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1, entry: new URL("./threads/missing.ts", import.meta.url) })
    assert.strictEqual((yield* Effect.flip(pool.draw(drawing("draw"))))._tag, "ThreadLost")
  }))

it.effect("ends its threads with the scope", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const pool = yield* Scope.provide(DrawingPool.make({ threads: 1, entry: stubborn }), scope)
    const spinning = yield* Effect.forkChild(began("scope"), { startImmediately: true })
    yield* pool.draw(drawing("draw", "scope"))
    yield* Fiber.join(spinning)
    yield* Scope.close(scope, Exit.void)
    // The thread that would have returned 2 has ended.
    assert.deepStrictEqual((yield* pool.draw(drawing("draw"))).bytes, Uint8Array.of(1))
  }))

it.effect("does not block the event loop while it draws", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1 })
    const picture = yield* Effect.forkChild(pool.draw({ ...drawing("mountains"), width: 512, height: 512 }))
    // Each turn is a round of the event loop that the drawing did not take.
    let turns = 0
    while (picture.pollUnsafe() === undefined) {
      yield* Effect.promise(() => new Promise<void>((resume) => void setImmediate(resume)))
      turns += 1
    }
    yield* Fiber.join(picture)
    assert.isAbove(turns, 50)
  }))
