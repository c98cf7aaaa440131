import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DataDirectory from "../src/DataDirectory.ts"

const withDirectory = <A, E>(use: (directory: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-data-"))),
    use,
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

it.effect("rejects a second owner until the first releases the directory", () =>
  withDirectory((parent) =>
    Effect.gen(function*() {
      const path = join(parent, "made", "on demand")
      const second = yield* Effect.scoped(Effect.gen(function*() {
        assert.strictEqual(yield* DataDirectory.acquire(path), path)
        return yield* Effect.flip(Effect.scoped(DataDirectory.acquire(path)))
      }))
      assert.instanceOf(second, DataDirectory.DataDirectoryInUse)
      assert.match(second.message, /KINORA_DATA_DIR/)
      yield* Effect.scoped(DataDirectory.acquire(path))
    })
  ))

it.effect("can be acquired after its owner was killed", () =>
  withDirectory((path) =>
    Effect.gen(function*() {
      const script = `
        import { DataDirectory } from "@kinora/hosting"
        import { Effect } from "effect"
        Effect.runFork(Effect.scoped(Effect.andThen(
          DataDirectory.acquire(${JSON.stringify(path)}),
          Effect.andThen(Effect.sync(() => process.stdout.write("held")), Effect.never)
        )))`
      const owner = spawn(process.execPath, ["--conditions=@kinora/source", "--input-type=module", "--eval", script], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      yield* Effect.promise(() => once(owner.stdout, "data"))
      assert.instanceOf(
        yield* Effect.flip(Effect.scoped(DataDirectory.acquire(path))),
        DataDirectory.DataDirectoryInUse
      )
      const ended = once(owner, "exit")
      owner.kill("SIGKILL")
      yield* Effect.promise(() => ended)
      yield* Effect.scoped(DataDirectory.acquire(path))
    })
  ))

it.effect("reports why a directory cannot be used", () =>
  withDirectory((parent) =>
    Effect.gen(function*() {
      const path = join(parent, "a file")
      yield* Effect.promise(() => writeFile(path, ""))
      const error = yield* Effect.flip(Effect.scoped(DataDirectory.acquire(path)))
      assert.instanceOf(error, DataDirectory.DataDirectoryUnusable)
    })
  ))
