import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises"
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
      // As hosts run. `runFork` keeps neither the process nor the lock: the process ends on its own.
      const script = `
        import { NodeRuntime } from "@effect/platform-node"
        import { DataDirectory } from "@kinora/hosting"
        import { Effect } from "effect"
        NodeRuntime.runMain(Effect.scoped(Effect.andThen(
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
      assert.deepStrictEqual(yield* Effect.promise(() => ended), [null, "SIGKILL"])
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

/** The modes of everything below a directory, by path. */
const modesOf = async (directory: string): Promise<Readonly<Record<string, string>>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => !entry.isSymbolicLink()).map(({ name, parentPath }) => join(parentPath, name))
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  return Object.fromEntries(await Promise.all([directory, ...paths].map(async (path) => [path, await modeOf(path)])))
}

it.effect("closes an existing directory and everything in it to other users", () =>
  withDirectory((parent) =>
    Effect.gen(function*() {
      const path = join(parent, "data")
      const outside = join(parent, "outside")
      yield* Effect.promise(async () => {
        await mkdir(join(path, "database", "base"), { recursive: true })
        for (const name of ["webhook-key", "database/base/1", "database/PG_VERSION"]) {
          await writeFile(join(path, name), "")
        }
        for (const name of ["database/base/1", "webhook-key"]) {
          await chmod(join(path, name), 0o666)
        }
        await chmod(join(path, "database/PG_VERSION"), 0o444)
        for (const name of ["database/base", "database", "."]) await chmod(join(path, name), 0o755)
        await writeFile(outside, "")
        await chmod(outside, 0o644)
        await symlink(outside, join(path, "database", "link"))
      })
      yield* Effect.scoped(DataDirectory.acquire(path))
      assert.deepStrictEqual(yield* Effect.promise(() => modesOf(path)), {
        [path]: "700",
        [join(path, "database")]: "700",
        [join(path, "database/base")]: "700",
        [join(path, "database/base/1")]: "600",
        [join(path, "database/PG_VERSION")]: "400",
        [join(path, "webhook-key")]: "600",
        [join(path, "kinora.lock")]: (0o666 & ~process.umask()).toString(8)
      })
      assert.strictEqual((yield* Effect.promise(() => stat(outside))).mode & 0o777, 0o644)
    })
  ))

/** Returns the message of the error that a process without the rights of root gets for a directory. */
const messageFor = Effect.fnUntraced(function*(path: string) {
  const script = `
    import { DataDirectory } from "@kinora/hosting"
    import { Effect } from "effect"
    if (process.getuid() === 0) process.setuid(65_534)
    const error = await Effect.runPromise(Effect.flip(DataDirectory.make(${JSON.stringify(path)})))
    process.stdout.write(error.message)`
  const child = spawn(process.execPath, ["--conditions=@kinora/source", "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [text] = yield* Effect.promise(() => once(child.stdout, "data"))
  return String(text)
})

it.effect("refuses an open directory of another user", () =>
  Effect.gen(function*() {
    assert.match(
      yield* messageFor("/usr"),
      /^The data directory \/usr is open to other users of this machine \(mode 755\) and belongs to another user\./
    )
  }))

it.effect("refuses an open directory with other files, and does not change it", () =>
  withDirectory((path) =>
    Effect.gen(function*() {
      yield* Effect.promise(async () => {
        await writeFile(join(path, "webhook-key"), "", { mode: 0o644 })
        await writeFile(join(path, "notes.txt"), "", { mode: 0o644 })
        await chmod(path, 0o755)
      })
      const before = yield* Effect.promise(() => modesOf(path))
      const { message } = yield* Effect.flip(DataDirectory.make(path))
      assert.match(message, /\(mode 755\) and contains other files, such as notes\.txt\./)
      assert.deepStrictEqual(yield* Effect.promise(() => modesOf(path)), before)
    })
  ))
