/** Priority of the threads that decode and encode images. */
import { Effect } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { constants, setPriority } from "node:os"

/**
 * Lowers the priority of the threads of the pool of Node, on which libvips works, below that of the event loop: while images
 * use all cores, requests come first. libvips starts its own threads from these, and they inherit the priority. Only Linux
 * has a priority per thread.
 */
export const lower: Effect.Effect<void> = Effect.promise(async () => {
  if (process.platform !== "linux") return
  // Reading the directory starts the pool, all threads at once.
  const ids = await readdir(tasks)
  await Promise.all(ids.map(async (id) => {
    if (await nameOf(id) === "libuv-worker") lowerThread(Number(id))
  }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tasks = "/proc/self/task"

/** Returns the name of a thread, or nothing if it has ended. */
const nameOf = (id: string): Promise<string | undefined> =>
  readFile(`${tasks}/${id}/comm`, "utf8").then((name) => name.trimEnd(), () => undefined)

const lowerThread = (id: number): void => {
  try {
    setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The system forbids it. Images then compete with requests.
  }
}
