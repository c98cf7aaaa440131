import { it } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { HotUpdates } from "@kinora/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { GenerationId } from "../src/Generation.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import * as SqlGenerationStore from "../src/SqlGenerationStore.ts"

it.live("ends of jobs change no index of the counters of usage", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { end } = yield* GenerationStore
      const at = yield* DateTime.now

      /** Inserts one job of each account with a multiple of `step`, and ends it. */
      const endJobs = Effect.fnUntraced(function*(step: number) {
        const inserted = yield* sql<{ readonly id: string }>`
          INSERT INTO generation_job (
            id, account, model, kind, mode, plan, status, prompt, params, cost_credits, refunded, created_at, key_id
          )
          SELECT gen_random_uuid(), 'account ' || n, 'canvas', 'image', 'text_to_image', 'credits', 'queued', '', '{}', 8, false,
            ${DateTime.toDate(at)}::timestamptz, 'key ' || n
          FROM generate_series(0, 399, ${step}::int) AS n
          RETURNING id
        `
        const ending = { status: "cancelled", at, failure: null, output: null, resultExpiresAt: null } as const
        yield* end(inserted.map(({ id }) => ({ ...ending, id: GenerationId.fromUuid(id) })))
      })
      yield* endJobs(1)
      yield* HotUpdates.verify({
        updates: { generation_usage: 300, generation_key_usage: 300 },
        rounds: [endJobs(4), endJobs(4), endJobs(4)]
      })
    }).pipe(
      Effect.provide(
        SqlGenerationStore.layer.pipe(
          Layer.provideMerge(Migrations.layer(SqlGenerationStore.migrations)),
          Layer.provideMerge(database)
        )
      )
    )
  }).pipe(Effect.scoped))
