/** The directory in which a host keeps what it owns alone. */
import { Data, Effect, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Another process has the directory. */
export class DataDirectoryInUse extends Data.TaggedError("DataDirectoryInUse")<{ readonly path: string }> {
  override get message(): string {
    return `The data directory ${this.path} is in use by another process; stop it, or choose another with KINORA_DATA_DIR`
  }
}

/** The directory cannot be made or written. */
export class DataDirectoryUnusable extends Data.TaggedError("DataDirectoryUnusable")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The data directory ${this.path} cannot be used: ${String(this.cause)}`
  }
}

/** Makes the directory if it is missing. Any number of processes may. */
export const make = (path: string): Effect.Effect<string, DataDirectoryUnusable> =>
  Effect.try({
    try: () => makeSync(path),
    catch: (cause) => new DataDirectoryUnusable({ path, cause })
  })

/**
 * Makes the directory if it is missing and keeps other processes out of it until
 * the scope closes or this process dies, however it dies: PGlite takes no lock of
 * its own, and two of them on one directory destroy it.
 *
 * The lock is SQLite's, on a file of its own. Node has no `flock`, and a file with
 * a process id in it survives a crash.
 */
export const acquire = (
  path: string
): Effect.Effect<string, DataDirectoryInUse | DataDirectoryUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const directory = makeSync(path)
        const lock = new DatabaseSync(join(directory, "kinora.lock"))
        try {
          lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        } catch (error) {
          lock.close()
          throw error
        }
        return { directory, lock }
      },
      catch: (cause) => isBusy(cause) ? new DataDirectoryInUse({ path }) : new DataDirectoryUnusable({ path, cause })
    }),
    ({ lock }) => Effect.sync(() => lock.close())
  ).pipe(Effect.map(({ directory }) => directory))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeSync = (path: string): string => {
  const directory = resolve(path)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

const sqliteBusy = 5

const isBusy = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "errcode" in cause && cause.errcode === sqliteBusy
