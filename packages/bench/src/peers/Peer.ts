/** Starts a peer of the HTTP benchmarks: its own tables in its own database, and its own process. */
import { Effect } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt, type Environment } from "../Benchmark.ts"
import type { HttpServer } from "../HttpServer.ts"
import * as PostgresServer from "../PostgresServer.ts"
import * as ServerProcess from "../ServerProcess.ts"

/** A server that is written by hand. */
export interface Peer {
  readonly name: string
  /** Describes it in one line. */
  readonly description: string
  /** Its program in this directory. Gets the URL of the database and a directory for files. */
  readonly program: string
  /** Creates the tables. */
  readonly prepare: (database: string) => Promise<void>
  /** Creates accounts with one key and this many credits each. Returns the keys. */
  readonly makeKeys: (database: string, count: number, credits: number) => Promise<ReadonlyArray<string>>
}

/** Starts a peer. */
export const start = Effect.fnUntraced(function*(
  { makeKeys, name, prepare, program }: Peer,
  environment: Environment
) {
  const database = yield* environment.database
  yield* attempt(`The tables of ${name} could not be created`, () => prepare(database))
  const directory = yield* Effect.acquireRelease(
    attempt(`No directory for ${name}`, () => mkdtemp(join(tmpdir(), "kinora-bench-images-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const startOn = (url: string) =>
    ServerProcess.make({ module: join(import.meta.dirname, program), args: [url, directory], environment: {} })
  const server: HttpServer = {
    name,
    database,
    startOn,
    makeKeys: (count, credits = 20_000) =>
      attempt(`The accounts of ${name} could not be created`, () => makeKeys(database, count, credits)),
    ...yield* startOn(database)
  }
  return server
})

/** Runs one statement on a new connection. */
export const query = (database: string, text: string, values: ReadonlyArray<unknown>): Promise<unknown> =>
  PostgresServer.withClient(database, (client) => client.query(text, [...values]))
