/** The data directory of a host. */
import { Data, Effect } from "effect"
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Names of what hosts create in the directory. */
export const entries = {
  /** The embedded database. */
  database: "database",
  /** Prevents a second process from opening the embedded database. */
  lock: "kinora.lock",
  /** Results and images. */
  files: "files",
  /** The key that signs content URLs. */
  urlSigningKey: "url-signing-key",
  /** The key that encrypts the secrets of webhook endpoints. */
  webhookKey: "webhook-key",
  /** The key of the demo account. */
  demoAccount: "demo-account.json"
} as const

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

/** Other users of the machine can open the directory, and this process must not change that. */
export class DataDirectoryExposed extends Data.TaggedError("DataDirectoryExposed")<{
  readonly path: string
  /** Permissions of the directory. */
  readonly mode: number
  /** Why the process does not change them. */
  readonly reason: string
}> {
  override get message(): string {
    const { mode, path, reason } = this
    return `The data directory ${path} is open to other users of this machine (mode ${
      mode.toString(8)
    }) and ${reason}. ` +
      "Take their permissions from it (chmod -R go=), or set KINORA_DATA_DIR to a directory below it, which is created " +
      "with the right mode"
  }
}

/**
 * Creates the directory if it is missing. If other users of the machine can open it, takes
 * their permissions from it and from everything in it. Several processes may share it.
 */
export const make = Effect.fn("DataDirectory.make")(function*(path: string) {
  const { directory, wasOpen } = yield* Effect.try({
    try: () => makeSync(path),
    catch: (cause) => cause instanceof DataDirectoryExposed ? cause : new DataDirectoryUnusable({ path, cause })
  })
  if (wasOpen) {
    yield* Effect.logWarning("The data directory was open to other users of this machine, and is closed now", { path })
  }
  return directory
})

/**
 * Creates the directory if it is missing and locks it until the scope closes or the
 * process ends. PGlite takes no lock, and two processes on one directory corrupt its
 * database.
 *
 * The lock is a SQLite lock on a separate file. Node has no `flock`, and a file that
 * contains a process id survives a crash.
 */
export const acquire = Effect.fn("DataDirectory.acquire")(function*(path: string) {
  const directory = yield* make(path)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const lock = new DatabaseSync(join(directory, entries.lock))
        try {
          lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        } catch (error) {
          lock.close()
          throw error
        }
        return lock
      },
      catch: (cause) => isBusy(cause) ? new DataDirectoryInUse({ path }) : new DataDirectoryUnusable({ path, cause })
    }),
    (lock) => Effect.sync(() => lock.close())
  )
  return directory
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeSync = (path: string) => {
  const directory = resolve(path)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { mode, uid } = statSync(directory)
  // Windows has no such permissions, and no user ids.
  const user = process.getuid?.()
  const wasOpen = user !== undefined && (mode & ofOthers) !== 0
  if (wasOpen) {
    const exposed = (reason: string) => new DataDirectoryExposed({ path, mode: mode & 0o777, reason })
    if (user !== 0 && user !== uid) throw exposed("belongs to another user")
    // A directory of the system that was named by mistake must not be closed to its users.
    const foreign = readdirSync(directory).find((name) => !isOwn(name))
    if (foreign !== undefined) throw exposed(`contains other files, such as ${foreign}`)
    // First, so that nobody opens a file while the others are closed.
    chmodSync(directory, mode & ~ofOthers & permissions)
    for (const name of readdirSync(directory)) close(join(directory, name))
  }
  return { directory, wasOpen }
}

/** `lost+found` is a directory of the file system. */
const ownNames: ReadonlySet<string> = new Set([...Object.values(entries), "lost+found"])

/** SQLite has files beside the lock, and a crash can leave the draft of a key beside the key. */
const ownBeginnings = [entries.lock, `${entries.urlSigningKey}.`, `${entries.webhookKey}.`]

const isOwn = (name: string) => ownNames.has(name) || ownBeginnings.some((beginning) => name.startsWith(beginning))

const permissions = 0o7777

/** Permissions of the group and of all other users. */
const ofOthers = 0o077

/** Takes the permissions of other users from a file, or from a directory and everything in it. Follows no links. */
const close = (path: string): void => {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  if ((stats.mode & ofOthers) !== 0) chmodSync(path, stats.mode & ~ofOthers & permissions)
  if (stats.isDirectory()) { for (const name of readdirSync(path)) close(join(path, name)) }
}

const sqliteBusy = 5

const isBusy = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "errcode" in cause && cause.errcode === sqliteBusy
