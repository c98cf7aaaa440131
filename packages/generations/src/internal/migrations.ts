import type { Migrations } from "@kinora/persistence"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const migrations: Migrations.Migrations = {
  namespace: "generation",
  migrations: {
    "0001_create_job": Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        CREATE TABLE generation_job (
          id                uuid        PRIMARY KEY,
          account           text        NOT NULL,
          model             text        NOT NULL,
          kind              text        NOT NULL CHECK (kind IN ('image', 'video')),
          mode              text        NOT NULL,
          plan              text        NOT NULL CHECK (plan IN ('studio', 'credits')),
          status            text        NOT NULL
            CHECK (status IN ('pending', 'queued', 'processing', 'completed', 'failed', 'cancelled')),
          prompt            text        NOT NULL,
          params            jsonb       NOT NULL,
          cost_credits      bigint      CHECK (cost_credits >= 0),
          quota_kind        text        CHECK (quota_kind IN ('image', 'video')),
          refunded          boolean     NOT NULL,
          failure           jsonb,
          output            jsonb,
          result_expires_at timestamptz,
          created_at        timestamptz NOT NULL,
          started_at        timestamptz,
          finished_at       timestamptz,
          CHECK ((plan = 'credits') = (cost_credits IS NOT NULL)),
          CHECK ((plan = 'studio') = (quota_kind IS NOT NULL)),
          CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
          CHECK ((status = 'failed') = (failure IS NOT NULL)),
          CHECK (refunded = (status IN ('failed', 'cancelled'))),
          CHECK ((status = 'completed') = (result_expires_at IS NOT NULL))
        )
      `
      // An account's generations, newest first: an id sorts by its time.
      yield* sql`CREATE INDEX generation_job_account ON generation_job (account, id DESC)`
      yield* sql`
        CREATE INDEX generation_job_waiting ON generation_job (model, id) WHERE status IN ('pending', 'queued')
      `
      yield* sql`CREATE INDEX generation_job_expiry ON generation_job (result_expires_at) WHERE output IS NOT NULL`
    })
  }
}
