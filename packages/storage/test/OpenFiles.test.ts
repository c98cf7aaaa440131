import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { fstatSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { makeOpenFiles } from "../src/internal/openFiles.ts"

/** A file of 3 bytes that is shared for a second, with the actions of its readers and of a writer. */
const start = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(tmpdir(), "open-files-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
  )
  const file = { key: "one", path: path.join(directory, "one") }
  writeFileSync(file.path, "old")
  const { acquire, forget, release, size } = yield* makeOpenFiles(Duration.seconds(1), 10)
  /** Replaces the file by one of 5 bytes. */
  const replace = Effect.sync(() => {
    writeFileSync(path.join(directory, "next"), "newer")
    renameSync(path.join(directory, "next"), file.path)
  })
  const open = Effect.uninterruptible(acquire(file))
  return { file, forget, open, readSize: Effect.acquireUseRelease(open, size, release), release, replace, size }
})

/** Returns a function that returns whether this process has the file open, also after its name was removed. */
const isOpen = (file: string) => {
  const { dev, ino } = statSync(file)
  return () =>
    readdirSync("/dev/fd").some((descriptor) => {
      try {
        const found = fstatSync(Number(descriptor))
        return found.dev === dev && found.ino === ino
      } catch {
        // The descriptor that listed the directory is closed by now.
        return false
      }
    })
}

it.effect("shares no file of a reader who opened it while it was replaced", () =>
  Effect.gen(function*() {
    const { file, forget, readSize, replace } = yield* start
    assert.strictEqual(yield* readSize, 3)
    yield* Effect.ensuring(Effect.andThen(readSize, replace), forget(file.path))
    assert.strictEqual(yield* readSize, 5)
  }).pipe(Effect.scoped))

it.effect("shares no file that was being opened when it was replaced", () =>
  Effect.gen(function*() {
    const { file, forget, open, readSize, release, replace, size } = yield* start
    const before = isOpen(file.path)
    const opening = yield* Effect.forkChild(open, { startImmediately: true })
    // The system has opened the file, and the callback waits for this turn of the event loop to end.
    while (!before()) continue
    assert.isUndefined(opening.pollUnsafe())
    yield* Effect.andThen(replace, forget(file.path))
    const old = yield* Fiber.join(opening)
    assert.strictEqual(yield* size(old), 3)
    assert.strictEqual(yield* readSize, 5)
    yield* release(old)
  }).pipe(Effect.scoped))
