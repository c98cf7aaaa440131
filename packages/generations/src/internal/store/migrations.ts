/** Tables of this package. A released migration is never edited. */
import { Migrations } from "@kinora/persistence"
import { Effect } from "effect"

/** See `SqlGenerationStore.migrations`. */
export const migrations: Migrations.Migrations = {
  namespace: "generation",
  migrations: {
    "0001_create_job": Migrations.statements((sql) => [
      sql`
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
      `,
      // Lists an account's generations, newest first: ids sort by time.
      sql`CREATE INDEX generation_job_account ON generation_job (account, id DESC)`,
      sql`
        CREATE INDEX generation_job_waiting ON generation_job (model, id) WHERE status IN ('pending', 'queued')
      `,
      sql`CREATE INDEX generation_job_expiry ON generation_job (result_expires_at) WHERE output IS NOT NULL`
    ]),

    "0002_add_usage": Migrations.statements((sql) => [
      // Leaves room in each page, so that an update of a counter does not touch the index.
      sql`
        CREATE TABLE generation_usage (
          account   text   NOT NULL,
          day       date   NOT NULL,
          plan      text   NOT NULL CHECK (plan IN ('studio', 'credits')),
          model     text   NOT NULL,
          kind      text   NOT NULL CHECK (kind IN ('image', 'video')),
          completed bigint NOT NULL CHECK (completed >= 0),
          failed    bigint NOT NULL CHECK (failed >= 0),
          cancelled bigint NOT NULL CHECK (cancelled >= 0),
          credits   bigint NOT NULL CHECK (credits >= 0 AND (plan = 'credits' OR credits = 0)),
          PRIMARY KEY (account, day, plan, model, kind)
        ) WITH (fillfactor = 70)
      `,
      sql`
        INSERT INTO generation_usage (account, day, plan, model, kind, completed, failed, cancelled, credits)
        SELECT
          account, (finished_at AT TIME ZONE 'UTC')::date, plan, model, kind,
          count(*) FILTER (WHERE status = 'completed'),
          count(*) FILTER (WHERE status = 'failed'),
          count(*) FILTER (WHERE status = 'cancelled'),
          coalesce(sum(cost_credits) FILTER (WHERE status = 'completed'), 0)
        FROM generation_job
        WHERE finished_at IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5
      `
    ]),

    "0003_list_and_put_off": Migrations.statements((sql) => [
      // Every combination of filters is a range of this index.
      sql`
        CREATE INDEX generation_job_listing ON generation_job (account, status, kind, plan, id)
      `,
      sql`DROP INDEX generation_job_account`,
      sql`ALTER TABLE generation_job ADD COLUMN put_off_until timestamptz`,
      sql`
        CREATE INDEX generation_job_due ON generation_job (greatest(result_expires_at, put_off_until))
        WHERE output IS NOT NULL
      `,
      sql`DROP INDEX generation_job_expiry`
    ]),

    "0004_add_images": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN images jsonb NOT NULL DEFAULT '[]'`,
      sql`
        CREATE TABLE generation_image (
          id           uuid        PRIMARY KEY,
          account      text        NOT NULL,
          mime         text        NOT NULL CHECK (mime IN ('image/png', 'image/jpeg', 'image/webp')),
          width        int         NOT NULL CHECK (width > 0),
          height       int         NOT NULL CHECK (height > 0),
          bytes        int         NOT NULL CHECK (bytes > 0),
          usable_until timestamptz,
          kept_until   timestamptz NOT NULL,
          is_dropped   boolean     NOT NULL,
          CHECK (NOT is_dropped OR usable_until IS NULL)
        )
      `,
      sql`
        CREATE INDEX generation_image_usable ON generation_image (account, usable_until) WHERE usable_until IS NOT NULL
      `,
      sql`CREATE INDEX generation_image_due ON generation_image (greatest(usable_until, kept_until))`
    ]),

    "0005_add_upstream_reports": Migrations.statements((sql) => [
      sql`
        CREATE TABLE generation_upstream_report (
          worker   text        NOT NULL,
          upstream text        NOT NULL,
          status   text        NOT NULL CHECK (status IN ('degraded', 'paused')),
          retry_at timestamptz NOT NULL,
          until    timestamptz NOT NULL,
          PRIMARY KEY (worker, upstream)
        )
      `
    ]),

    "0006_add_watermark": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN watermark boolean NOT NULL DEFAULT false`
    ]),

    // Created two indexes that are among `indexes` now. The number stays, since databases have recorded it.
    "0007_delete_old_rows": Effect.void,

    "0008_add_model_pauses": Migrations.statements((sql) => [
      sql`
        CREATE TABLE generation_model_pause (
          model     text        PRIMARY KEY,
          paused_at timestamptz NOT NULL
        )
      `
    ]),

    // Workers of earlier builds record no attempts.
    "0009_add_attempts": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN attempts jsonb NOT NULL DEFAULT '[]'`
    ]),

    // Counters by key have a table of their own, because builds without them count in `generation_usage` by its primary
    // key. A job that such a build created has no key, and one that it ended is not counted by key.
    "0010_add_key": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN key_id text`,
      sql`
        CREATE TABLE generation_key_usage (
          account   text   NOT NULL,
          day       date   NOT NULL,
          plan      text   NOT NULL CHECK (plan IN ('studio', 'credits')),
          model     text   NOT NULL,
          kind      text   NOT NULL CHECK (kind IN ('image', 'video')),
          key_id    text   NOT NULL,
          completed bigint NOT NULL CHECK (completed >= 0),
          failed    bigint NOT NULL CHECK (failed >= 0),
          cancelled bigint NOT NULL CHECK (cancelled >= 0),
          credits   bigint NOT NULL CHECK (credits >= 0 AND (plan = 'credits' OR credits = 0)),
          PRIMARY KEY (account, day, plan, model, kind, key_id)
        ) WITH (fillfactor = 70)
      `
    ]),

    // The line of API keys whose budget counts the job. Earlier builds count none.
    "0011_add_key_line": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN key_line text`
    ]),

    // When the files that the attempts of an ended job may have left are due for deletion. Earlier builds set none.
    "0012_add_attempt_files_due": Migrations.statements((sql) => [
      sql`ALTER TABLE generation_job ADD COLUMN attempt_files_due timestamptz`
    ])
  },
  // Indexes that find old rows, jobs of all accounts, and files of attempts.
  indexes: {
    generation_job_attempt_files: "ON generation_job (attempt_files_due) WHERE attempt_files_due IS NOT NULL",
    generation_job_ended: "ON generation_job (finished_at) WHERE output IS NULL AND finished_at IS NOT NULL",
    generation_job_search: "ON generation_job (status, model, id)",
    generation_key_usage_day: "ON generation_key_usage (day)",
    generation_usage_day: "ON generation_usage (day)"
  }
}
