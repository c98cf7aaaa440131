/** Random stories on Postgres, in parts that run at the same time. */
import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import * as Backend from "../../src/stories/Backend.ts"
import * as Stories from "../../src/stories/Stories.ts"

/** Number of stories of a part. There are four parts. A story takes half a second of processor time, with that of the server. */
const count = 250

/** Seed of the first story of part 1. The stories in memory have other seeds. */
const firstOfAll = 100_001

/** Defines the tests of a part, which has a number from 1 and a database of its own. */
export const testPart = (part: number): void => {
  describe(`random stories on Postgres, part ${part}`, { timeout: 1_800_000 }, () => {
    it.live("break no promise", () =>
      Effect.gen(function*() {
        const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
        const onBroken = (broken: Stories.BrokenSeed) => Effect.die(broken)
        const first = firstOfAll + (part - 1) * count
        const { hits, jobs } = yield* Stories.checkAll({ first, count, backend, onBroken })
        // The stories had an effect, and the faults on their jobs too.
        assert.isAbove(hits, count)
        for (const status of ["completed", "failed"]) assert.isAbove(jobs[status] ?? 0, count / 100)
      }).pipe(Effect.scoped))
  })
}
