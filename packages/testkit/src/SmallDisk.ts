/** Small file systems, which tests fill. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, type TestContext } from "vitest"

/** A mounted file system. */
export interface SmallDisk {
  /** Writes a file until nothing fits. */
  readonly fill: Effect.Effect<void>
  /** Removes the file. */
  readonly free: Effect.Effect<void>
}

/**
 * Mounts a file system in memory on a directory, which is created if it does not exist, until the scope closes. Returns
 * `undefined` if the system does not permit it, as in most containers.
 */
export const mount = Effect.fnUntraced(function*(directory: string, mebibytes: number) {
  const isMounted = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      await mkdir(directory, { recursive: true })
      try {
        await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0755`, "kinora", directory])
        return true
      } catch (cause) {
        if (isNotPermitted(cause)) return false
        throw cause
      }
    }),
    // Lazily, since a process that was killed may still hold a file.
    (isMounted) => isMounted ? Effect.promise(() => run("umount", ["--lazy", directory])) : Effect.void
  )
  if (!isMounted) return undefined
  const ballast = join(directory, "ballast")
  const disk: SmallDisk = {
    fill: Effect.promise(() => writeUntilFull(ballast)),
    free: Effect.promise(() => rm(ballast))
  }
  return disk
})

/** In CI, tests run as root. Elsewhere, those of full disks are skipped if they may not mount one. */
export const missing = (context: TestContext) =>
  Effect.sync(() =>
    process.env["CI"] === "true"
      ? assert.fail("A file system cannot be mounted; run the tests as root")
      : context.skip("NOT TESTED: a file system cannot be mounted; run the tests as root")
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const run = promisify(execFile)

/** A container may lack the permission or the program. */
const isNotPermitted = (cause: unknown): boolean =>
  cause instanceof Error && (
    ("code" in cause && cause.code === "ENOENT") ||
    /permission denied|must be superuser|not permitted/i.test(cause.message)
  )

/** Large writes first, then single pages. */
const writeUntilFull = async (file: string): Promise<void> => {
  const handle = await open(file, "w", 0o600)
  try {
    for (const bytes of [2 ** 20, 4096]) await repeatUntilFull(() => handle.writeFile(new Uint8Array(bytes)))
  } finally {
    await handle.close()
  }
}

const repeatUntilFull = async (write: () => Promise<void>): Promise<void> => {
  try {
    for (;;) await write()
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOSPC")) throw cause
  }
}
