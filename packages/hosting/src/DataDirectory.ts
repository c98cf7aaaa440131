/** The data directory of a host. */
import { Data, Effect, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Another process uses the directory. */
export class DataDirectoryInUse extends Data.TaggedError("DataDirectoryInUse")<{ readonly path: string }> {
  override get message(): string {
    return `The data directory ${this.path} is in use by another process. Stop that process, or set KINORA_DATA_DIR to another directory`
  }
}

/** The directory cannot be created or written. */
export class DataDirectoryUnusable extends Data.TaggedError("DataDirectoryUnusable")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The data directory ${this.path} cannot be used: ${String(this.cause)}`
  }
}

/** Creates the directory if it is missing. Several processes may share it. */
export const make = (path: string): Effect.Effect<string, DataDirectoryUnusable> =>
  Effect.try({
    try: () => makeSync(path),
    catch: (cause) => new DataDirectoryUnusable({ path, cause })
  })

/**
 * Creates the directory if it is missing and locks it until the scope closes or the
 * process ends. PGlite takes no lock, and two processes on one directory corrupt its
 * database.
 *
 * The lock is a SQLite lock on a separate file. Node has no `flock`, and a file that
 * contains a process id survives a crash.
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
