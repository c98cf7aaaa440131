/** A start that fails prints one sentence per problem on standard error and exits with 1. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

describe.concurrent("a start that fails", { timeout: 600_000 }, () => {
  it.live("names an unknown setting and an invalid value", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      const wrong = { ...environment, KINORA_PROT: "4747", KINORA_PORT: "70000" }
      for (const name of ["server", "worker"] as const) {
        const said = yield* assertRefused(name, wrong)
        assert.match(said, /^KINORA_PROT is not a setting; did you mean KINORA_PORT\?$/m)
        assert.match(said, /^KINORA_PORT is "70000"; expected a port from 0 to 65535$/m)
      }
    }))

  it.live("reports that the port is in use", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* makeSite("PGlite"), yield* makeSite("PGlite")]
      const { baseUrl } = yield* Program.startServer(first.environment)
      const said = yield* assertRefused("server", { ...second.environment, KINORA_PORT: new URL(baseUrl).port })
      assert.match(said, /^The port is in use\. .*KINORA_PORT/m)
    }))

  it.live("reports that another server uses the data directory, and does not affect that server", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      const owner = yield* Program.startServer(environment)
      const said = yield* assertRefused("server", environment)
      assert.match(said, /^The data directory .+ is in use by another process\. .*KINORA_DATA_DIR/m)
      assert.deepStrictEqual([(yield* owner.stop).code, (yield* owner.ended).stderr], [0, ""])
    }))

  it.live("reports that the database does not respond, without its password", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      // No process listens on port 1.
      const nowhere = {
        ...environment,
        KINORA_DATABASE_URL: "postgres://someone:pass-word@127.0.0.1:1/kinora",
        KINORA_DATABASE_WAIT_SECONDS: "1"
      }
      for (const name of ["server", "worker"] as const) {
        const said = yield* assertRefused(name, nowhere)
        assert.match(said, /^The database does not respond .*KINORA_DATABASE_URL$/m)
        assert.notInclude(said, "pass-word")
      }
    }))

  it.live("reports that a worker needs a Postgres", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      assert.match(
        yield* assertRefused("worker", environment),
        /^A worker requires the database .*KINORA_DATABASE_URL/m
      )
    }))

  it.live("reports an invalid configuration file", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite", [])
      const said = yield* assertRefused("server", { ...environment, KINORA_CONFIG: import.meta.filename })
      assert.match(said, /is not YAML/)
    }))
})

/** Waits for the exit and returns standard error, one sentence per line. */
const assertRefused = Effect.fnUntraced(function*(name: Program.Name, environment: Readonly<Record<string, string>>) {
  const { code, stderr, stdout } = yield* Effect.flatMap(Program.start(name, environment), ({ ended }) => ended)
  assert.deepStrictEqual([code, stdout], [1, ""], stderr)
  assert.notMatch(stderr, /^\s+at /m)
  return stderr.replaceAll(/^ +/gm, "")
}, Effect.scoped)
