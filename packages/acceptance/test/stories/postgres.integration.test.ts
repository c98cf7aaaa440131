/** Stories of clients and hosts under chosen faults, on Postgres. */
import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import * as Backend from "../../src/stories/Backend.ts"
import * as Stories from "../../src/stories/Stories.ts"
import type * as Story from "../../src/stories/Story.ts"
import { lostAttempt } from "./lostAttempt.ts"

/** A story whose hosts commit late, from a commit on. Among these are the claims of webhooks. */
const lateCommits = (skip: number): Story.Story => {
  const late = (host: number): Story.Step => ({
    _tag: "fault",
    host,
    place: "commit",
    kind: "delay",
    skip,
    count: 6,
    millis: 6_000
  })
  const pass: Story.Step = { _tag: "pass", millis: 12_000 }
  return {
    skews: [0, 0, 0],
    steps: [
      { _tag: "create", account: 0, keys: [0, 5, 2], host: 0 },
      { _tag: "pass", millis: 10 },
      late(0),
      late(1),
      pass,
      pass
    ]
  }
}

/** The first host creates a job half a minute before midnight, its clock is after it. The other one does the reverse. */
const wrongDays: Story.Story = {
  skews: [120_000, -120_000, 0],
  steps: [
    { _tag: "create", account: 0, keys: [6], host: 0 },
    ...Array.from({ length: 3 }, (): Story.Step => ({ _tag: "pass", millis: 12_000 })),
    { _tag: "create", account: 1, keys: [6], host: 1 },
    { _tag: "pass", millis: 12_000 }
  ]
}

describe("stories on Postgres", () => {
  it.live("count each job to the day of the database, whatever the clock of its host", () =>
    Effect.gen(function*() {
      const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
      const { refusals, statuses } = yield* Stories.run(wrongDays, backend)
      assert.deepStrictEqual({ refusals, statuses }, { refusals: [], statuses: ["completed", "completed"] })
    }).pipe(Effect.scoped))

  it.live("delete the files of a lost attempt later if they cannot be deleted at once", () =>
    Effect.gen(function*() {
      const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
      const { hits, statuses } = yield* Stories.run(lostAttempt, backend)
      assert.isAbove(hits, 2)
      assert.deepStrictEqual(statuses, ["completed"])
    }).pipe(Effect.scoped))

  it.live("come to rest while the claims of other hosts are not committed", () =>
    Effect.gen(function*() {
      const backend = yield* Backend.makePostgres(yield* TestDatabase.postgresUrl)
      for (const skip of [2, 4, 5]) {
        const { hits, statuses } = yield* Stories.run(lateCommits(skip), backend)
        assert.isAbove(hits, 0)
        assert.deepStrictEqual(statuses, ["completed", "completed", "completed"])
      }
    }).pipe(Effect.scoped))
})
