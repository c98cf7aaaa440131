/** Puts processes after the service in the orders of the system. */
import { writeFileSync } from "node:fs"
import { setPriority } from "node:os"

/**
 * Sets the priority of a process, and makes Linux kill it before others if memory is short. Does nothing if the process could
 * not be started (`undefined`) or has ended, or if the system forbids it.
 */
export const putLast = (pid: number | undefined, priority: number): void => {
  if (pid === undefined) return
  try {
    setPriority(pid, priority)
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/oom_score_adj`, "1000")
  } catch {
    // The process then competes with others.
  }
}
