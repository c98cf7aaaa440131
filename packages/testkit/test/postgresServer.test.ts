import { assert, it, vi } from "@effect/vitest"
import { type ContainerEngine, startPostgres } from "../src/internal/postgresServer.ts"

const absent: ContainerEngine = {
  responds: () => Promise.resolve(false),
  startPostgres: () => Promise.reject(new Error("not called"))
}

const rejectionOf = (engine: ContainerEngine): Promise<Error> => {
  vi.stubEnv("KINORA_TEST_POSTGRES", "testcontainers")
  const rejection = startPostgres("/nonexistent", engine).then(() => assert.fail("started"), (error) => error)
  vi.unstubAllEnvs()
  return rejection
}

it("names the missing container engine and the remedies if only a container is allowed", async () => {
  const { message } = await rejectionOf(absent)
  assert.strictEqual(
    message,
    "KINORA_TEST_POSTGRES=testcontainers requires a Postgres in a container, and no container engine responded. Start one, "
      + "for example Docker, or unset the variable to run Postgres without a container."
  )
})

it("names the missing image and the error of the engine if only a container is allowed", async () => {
  const cause = new Error("no such host")
  const error = await rejectionOf({ responds: () => Promise.resolve(true), startPostgres: () => Promise.reject(cause) })
  assert.include(error.message, "the container engine could not start postgres:18-alpine. Run `.ci/postgres-image")
  assert.strictEqual(error.cause, cause)
})
