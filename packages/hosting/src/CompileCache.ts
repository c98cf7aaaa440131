/**
 * Compiled modules on disk.
 *
 * Imports only Node, because a program calls it before it loads the rest.
 */
import { mkdirSync } from "node:fs"
import { enableCompileCache, getCompileCacheDir } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"

/**
 * Keeps compiled modules for the next start, in `.cache/kinora` of the user's home. Call it before the rest is imported. If
 * `NODE_COMPILE_CACHE` is set, Node uses that directory already. Does nothing if the directory cannot be written, or if
 * `NODE_DISABLE_COMPILE_CACHE` is set.
 *
 * Node's default directory is below that of temporary files, where another user of the machine can create it first. Node
 * would run the code that this user writes there.
 */
export const keepCompiledModules = (): void => {
  if (getCompileCacheDir() !== undefined) return
  try {
    const directory = join(homedir(), ".cache/kinora")
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    enableCompileCache(directory)
  } catch {
    // Cannot be written, or the user has no home. The process works without it.
  }
}
