/** A Node whose first process starts when the test releases it. */
import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { type FileHandle, mkdtemp, open, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

/** A program whose first process waits before it becomes Node. Later ones become it at once. */
export interface HeldNode {
  /** Path of the program. */
  readonly path: string
  /** Waits until the first process is started. Returns an effect that continues it. */
  readonly isStarted: Effect.Effect<Effect.Effect<void>>
}

/** Creates the program, until the scope closes. */
export const make: Effect.Effect<HeldNode, never, Scope.Scope> = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "held-node-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )
  const pipe = join(directory, "pipe")
  const path = join(directory, "node")
  // Opening a pipe waits for the other side.
  const script = `#!/bin/sh\n[ ! -p '${pipe}' ] || read -r line < '${pipe}'\nexec '${process.execPath}' "$@"\n`
  yield* Effect.promise(() => promisify(execFile)("mkfifo", [pipe]))
  yield* Effect.promise(() => writeFile(path, script, { mode: 0o755 }))
  const release = (handle: FileHandle) =>
    Effect.promise(async () => {
      await rm(pipe)
      await handle.write("go\n")
      await handle.close()
    })
  return { path, isStarted: Effect.map(Effect.promise(() => open(pipe, "w")), release) }
})
