/** Random stories of clients and hosts under faults, on Postgres. */
import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import * as Backend from "../src/stories/Backend.ts"
import * as Stories from "../src/stories/Stories.ts"
import { lostAttempt } from "./lostAttempt.ts"

/** Number of stories of a test run. Each takes 0.4 seconds of processor time, with that of the server. */
const count = 60

describe("random stories on Postgres", { timeout: 600_000 }, () => {
  it.live("break no promise", () =>
    Effect.gen(function*() {
      const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
      const onBroken = (broken: Stories.BrokenSeed) => Effect.die(broken)
      const { hits } = yield* Stories.checkAll({ first: 100_001, count, backend, onBroken })
      // The stories had an effect.
      assert.isAbove(hits, 0)
    }).pipe(Effect.scoped))

  it.live("delete the files of a lost attempt later if they cannot be deleted at once", () =>
    Effect.gen(function*() {
      const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
      const { hits, statuses } = yield* Stories.run(lostAttempt, backend)
      assert.isAbove(hits, 2)
      assert.deepStrictEqual(statuses, ["completed"])
    }).pipe(Effect.scoped))
})
