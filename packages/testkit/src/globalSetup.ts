/** Starts one Postgres for the whole run and prints how. */
export type { ProvidedContext } from "./internal/providedContext.ts"
import { PGlite } from "@electric-sql/pglite"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { type PostgresServer, startPostgres } from "./internal/postgresServer.ts"
import * as MemoryDirectory from "./MemoryDirectory.ts"

export default async function(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(MemoryDirectory.parent(), "kinora-test-"))
  // An embedded server started by root runs as another user.
  await chmod(directory, 0o755)
  const [server, dump] = await Promise.allSettled([startPostgres(directory), dumpPglite(directory)])
  if (server.status === "rejected") {
    await stop(undefined, directory)
    throw server.reason
  }
  if (dump.status === "rejected") {
    await stop(server.value, directory)
    throw dump.reason
  }
  process.stdout.write(`Postgres for tests: ${server.value.description}\n`)
  project.provide("postgresUrl", server.value.url)
  project.provide("pgliteDump", dump.value)
  project.provide("hostPgliteDump", dump.value)
  return () => stop(server.value, directory)
}

const dumpPglite = async (directory: string): Promise<string> => {
  const database = await PGlite.create()
  const dump = await database.dumpDataDir("none")
  await database.close()
  const path = join(directory, "pglite.tar")
  await writeFile(path, Buffer.from(await dump.arrayBuffer()))
  return path
}

const stop = async (server: PostgresServer | undefined, directory: string): Promise<void> => {
  await server?.stop()
  await rm(directory, { recursive: true, force: true })
}
