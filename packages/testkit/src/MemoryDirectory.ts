/** A place in memory for the files of databases. */
import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

/**
 * Returns the directory below which tests create the directories of databases: a file system in memory if there is one
 * with 4 GiB free, otherwise the directory of temporary files. A database consists of 300 files, whose creation costs
 * more processor time on a disk than a test. No test needs files that survive a crash of the machine.
 */
export const parent = (): string => {
  try {
    const { bavail, bsize } = statfsSync(sharedMemory)
    return bavail * bsize >= freeBytesMin ? sharedMemory : tmpdir()
  } catch {
    // Only Linux has it.
    return tmpdir()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sharedMemory = "/dev/shm"
const freeBytesMin = 4 * 2 ** 30
