/** Processor times of processes, as Linux counts them. */
import { readdir, readFile } from "node:fs/promises"

/**
 * Returns the processor time of a process, of its children, and of the children that have ended, in seconds. Undefined
 * on systems without `/proc`.
 */
export const secondsOfTree = async (parent: number): Promise<number | undefined> => {
  const root = await statOf(parent)
  if (root === undefined) return undefined
  const pids = (await readdir("/proc")).map(Number).filter((pid) => Number.isInteger(pid) && pid !== parent)
  const children = (await Promise.all(pids.map(statOf))).filter((stat) => stat?.parent === parent)
  const ticks = children.reduce((sum, child) => sum + (child?.own ?? 0), root.own + root.ended)
  return ticks / ticksPerSecond
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `USER_HZ` of Linux, on every architecture that Node supports. */
const ticksPerSecond = 100

interface Stat {
  readonly parent: number
  /** User and system time, in ticks. */
  readonly own: number
  /** The same of its children that have ended. */
  readonly ended: number
}

/** Reads `/proc/<pid>/stat`. Undefined if there is no such process, or no longer. */
const statOf = async (pid: number): Promise<Stat | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // The name of the program is in parentheses, and can contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
  const [, parent] = fields
  if (parent === undefined) return undefined
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
  return { parent, own: user + system, ended: endedUser + endedSystem }
}
