/** A start that cannot be says why in a sentence on standard error, and ends with code 1. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

describe.concurrent("a start that cannot be", { timeout: 120_000 }, () => {
  it.live("names an unknown setting and a wrong value, both at once", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      const wrong = { ...environment, KINORA_PROT: "4747", KINORA_PORT: "70000" }
      for (const name of ["server", "worker"] as const) {
        const said = yield* assertRefused(name, wrong)
        assert.match(said, /^KINORA_PROT is no setting; known are .*KINORA_PORT/m)
        assert.match(said, /^KINORA_PORT is "70000"; expected a port from 0 to 65535$/m)
      }
    }))

  it.live("says that the port is in use", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* makeSite("PGlite"), yield* makeSite("PGlite")]
      const { baseUrl } = yield* Program.startServer(first.environment)
      const said = yield* assertRefused("server", { ...second.environment, KINORA_PORT: new URL(baseUrl).port })
      assert.match(said, /^The port is in use; .*KINORA_PORT/m)
    }))

  it.live("says that another server has the data directory, and leaves that one alone", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      const owner = yield* Program.startServer(environment)
      const said = yield* assertRefused("server", environment)
      assert.match(said, /^The data directory .+ is in use by another process; .*KINORA_DATA_DIR$/m)
      assert.deepStrictEqual([(yield* owner.stop).code, (yield* owner.ended).stderr], [0, ""])
    }))

  it.live("says that the database does not answer, without its password", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      // Nobody listens on port 1.
      const nowhere = { ...environment, KINORA_DATABASE_URL: "postgres://someone:pass-word@127.0.0.1:1/kinora" }
      for (const name of ["server", "worker"] as const) {
        const said = yield* assertRefused(name, nowhere)
        assert.match(said, /^The database does not answer .*KINORA_DATABASE_URL$/m)
        assert.notInclude(said, "pass-word")
      }
    }))

  it.live("tells a worker without a Postgres that it has nobody to work for", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite")
      assert.match(yield* assertRefused("worker", environment), /^A worker shares the database .*KINORA_DATABASE_URL/m)
    }))

  it.live("names what is wrong with the models", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("PGlite", [])
      const said = yield* assertRefused("server", { ...environment, KINORA_CONFIG: import.meta.filename })
      assert.match(said, /is not YAML/)
    }))
})

/** Waits for the refusal and answers with what it said, a sentence a line. */
const assertRefused = Effect.fnUntraced(function*(name: Program.Name, environment: Readonly<Record<string, string>>) {
  const { code, stderr, stdout } = yield* Effect.flatMap(Program.start(name, environment), ({ ended }) => ended)
  assert.deepStrictEqual([code, stdout], [1, ""], stderr)
  assert.notMatch(stderr, /^\s+at /m)
  return stderr.replaceAll(/^ +/gm, "")
}, Effect.scoped)
