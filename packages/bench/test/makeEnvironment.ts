import { TestDatabase } from "@kinora/testkit"
import { Effect, Option } from "effect"
import type { Environment } from "../src/Benchmark.ts"
import * as PostgresServer from "../src/PostgresServer.ts"

/** Returns an environment on the Postgres of the tests. */
export const makeEnvironment = Effect.gen(function*() {
  const server = yield* PostgresServer.make(Option.some(yield* TestDatabase.postgresUrl))
  const environment: Environment = { ...server, seconds: 1 }
  return environment
})
