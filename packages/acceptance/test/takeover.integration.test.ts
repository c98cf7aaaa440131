/**
 * Workers that lose their leases without ending. They interrupt their runs by their own clocks, because the database does
 * not respond. In a file of its own, because it mostly waits.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Scheduler } from "@kinora/scheduler"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted } from "effect"
import * as Takeover from "../src/takeover/Takeover.ts"

const faults = {
  hang: "a worker whose database hangs",
  freeze: "a worker that was suspended for longer than its lease"
} as const

for (const fault of ["hang", "freeze"] as const) {
  it.live(
    `${faults[fault]} stops its runs when its lease ends, and another worker runs the jobs`,
    () =>
      Effect.gen(function*() {
        const url = yield* TestDatabase.postgresUrl
        const { late, lost, overlaps, times } = yield* Takeover.measure({
          url,
          fault,
          kills: 1,
          groups: 1,
          // The runs would continue without end. The drill measures that they end within a second.
          tolerance: 20_000,
          onKill: () => Effect.void
        }).pipe(
          Effect.provide(
            Scheduler.layerPostgres().pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(url) })))
          )
        )
        assert.deepStrictEqual({ late, lost, overlaps, jobs: times.length }, {
          late: 0,
          lost: 0,
          overlaps: 0,
          jobs: Takeover.jobsPerKill
        })
      }),
    { timeout: 300_000 }
  )
}
