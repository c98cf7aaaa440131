/** The real server, without a worker, on a database of its own. */
import { Effect, Layer } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt, type Environment, failingWith } from "./Benchmark.ts"
import * as HttpContestants from "./HttpContestants.ts"
import * as KinoraAccounts from "./KinoraAccounts.ts"
import * as KinoraServices from "./KinoraServices.ts"
import * as ServerProcess from "./ServerProcess.ts"

/** Starts it. Its accounts are made by the services in this process. */
export const make = Effect.fnUntraced(function*(environment: Environment) {
  const url = yield* environment.database
  const services = yield* Layer.build(KinoraServices.layer(url)).pipe(failingWith("Kinora does not start"))
  const dataDirectory = yield* Effect.acquireRelease(
    attempt("No directory for the server", () => mkdtemp(join(tmpdir(), "kinora-bench-data-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const origin = yield* ServerProcess.make({
    module: join(import.meta.dirname, "../../../hosts/server/src/main.ts"),
    args: ["--json"],
    environment: {
      KINORA_DATABASE_URL: url,
      KINORA_DATA_DIR: dataDirectory,
      KINORA_PORT: "0",
      KINORA_WORKERS: "0",
      KINORA_LOG_LEVEL: "warn"
    }
  })
  return HttpContestants.make({
    name: "kinora",
    origin,
    database: url,
    makeKeys: (count) =>
      KinoraAccounts.make(count).pipe(Effect.provideContext(services), failingWith("The accounts could not be made"))
  }, environment)
})
