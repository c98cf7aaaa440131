/** A Postgres server of a test, whose processes can be suspended. */
import * as EmbeddedPostgres from "@kinora/testkit/EmbeddedPostgres"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import { Effect } from "effect"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"

/**
 * Starts a server. `freeze` suspends all its processes with SIGSTOP: connections remain open, the kernel acknowledges
 * what arrives, and nothing responds. `thaw` continues them. The server stops when the scope closes.
 */
export const make = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const directory = await mkdtemp(join(MemoryDirectory.parent(), "kinora-frozen-"))
      // A server started by root runs as another user.
      await chmod(directory, 0o755)
      return directory
    }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const signal = (name: "SIGSTOP" | "SIGCONT") =>
    Effect.promise(async () => {
      const main = Number.parseInt(await readFile(join(directory, "postgres", "postmaster.pid"), "utf8"), 10)
      // First, so that it starts no other.
      process.kill(main, name)
      for (const pid of await childrenOf(main)) signalChild(pid, name)
    })
  const { url } = yield* Effect.acquireRelease(
    Effect.promise(() => EmbeddedPostgres.start(directory, { fsync: "off" })),
    (server) => Effect.andThen(signal("SIGCONT"), Effect.promise(() => server.stop()))
  )
  return { url, freeze: signal("SIGSTOP"), thaw: signal("SIGCONT") }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Signals a process unless it has ended, as one whose client left before the server continued. */
const signalChild = (pid: number, name: "SIGSTOP" | "SIGCONT"): void => {
  try {
    process.kill(pid, name)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
  }
}

/** Returns the processes that a process started. Linux only. */
const childrenOf = async (parent: number): Promise<ReadonlyArray<number>> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(pids.map(parentOf))
  return pids.filter((_, index) => parents[index] === parent).map(Number)
}

const parentOf = async (pid: string): Promise<number | undefined> => {
  try {
    const status = await readFile(join("/proc", pid, "status"), "utf8")
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1])
  } catch {
    // It has ended.
    return undefined
  }
}
