/** Memory of processes, as Linux counts it. */
import { readFileSync } from "node:fs"

/**
 * Returns the resident memory of a process and its children, in bytes. Pages that several of them share count once for each.
 * Returns 0 on systems without `/proc`.
 */
export const residentBytesOfTree = (parent: number): number =>
  [parent, ...childrenOf(parent)].reduce((sum, pid) => sum + statusBytesOf(pid, "VmRSS"), 0)

/** Returns the maximum of the resident memory of a process since its program started, in bytes. Returns 0 on systems without `/proc`. */
export const peakBytesOf = (pid: number): number => statusBytesOf(pid, "VmHWM")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const childrenOf = (pid: number): ReadonlyArray<number> =>
  read(`/proc/${pid}/task/${pid}/children`).split(" ").filter((text) => text !== "").map(Number)

const statusBytesOf = (pid: number, field: "VmRSS" | "VmHWM"): number => {
  const [, kibibytes = "0"] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(read(`/proc/${pid}/status`)) ?? []
  return Number(kibibytes) * 1024
}

/** A process can end at any time. */
const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
