/** Directories of PGlite that are initialised already. */
import { execFile } from "node:child_process"
import { mkdir } from "node:fs/promises"
import { promisify } from "node:util"

/** Unpacks the archive of an initialised PGlite into a directory, which need not exist. */
export const unpack = async (archive: string, directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await execute("tar", ["--extract", "--file", archive, "--directory", directory])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const execute = promisify(execFile)
