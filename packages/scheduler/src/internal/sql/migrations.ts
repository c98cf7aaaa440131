/** The scheduler's tables. */
import * as Migrations from "@kinora/persistence/Migrations"
import * as AddJob from "./addJob.ts"

/** Groups, lanes and jobs. */
export const lanesAndJobs = Migrations.statements((sql) => [
  sql`
    CREATE TABLE scheduler_group (
      id text COLLATE "C" PRIMARY KEY CHECK (length(id) <= 128),
      waiting int4 NOT NULL CHECK (waiting >= 0)
    )
  `,

  sql`
    CREATE TABLE scheduler_lane (
      id text COLLATE "C" PRIMARY KEY CHECK (length(id) <= 128),
      group_id text COLLATE "C" NOT NULL REFERENCES scheduler_group (id),
      cap int4 NOT NULL CHECK (cap >= 0),
      held int4 NOT NULL CHECK (held >= 0),
      waiting int4 NOT NULL CHECK (waiting >= 0),
      CONSTRAINT scheduler_lane_nobody_waits_beside_a_free_slot CHECK (waiting = 0 OR held >= cap)
    )
  `,
  sql`CREATE INDEX scheduler_lane_of_group ON scheduler_lane (group_id)`,

  // Where a job stands in its line: among the pending of its lane by when it was
  // enqueued, among the queued by when it got its slot.
  sql`CREATE SEQUENCE scheduler_position`,

  // The group is kept with the job, since a lane never changes its group and a
  // claim should not have to read lanes.
  sql`
    CREATE TABLE scheduler_job (
      id uuid PRIMARY KEY,
      lane_id text COLLATE "C" NOT NULL REFERENCES scheduler_lane (id),
      group_id text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (length(kind) <= 128),
      payload json NOT NULL,
      checkpoint json,
      state text NOT NULL CHECK (state IN ('pending', 'queued', 'running')),
      position int8 NOT NULL DEFAULT nextval('scheduler_position'),
      epoch int4 NOT NULL DEFAULT 0 CHECK (epoch >= 0),
      attempt int4 NOT NULL DEFAULT 0 CHECK (attempt >= 0),
      attempts_max int4 NOT NULL CHECK (attempts_max >= 1),
      time_limit_ms int8 CHECK (time_limit_ms >= 0),
      enqueued_at timestamptz NOT NULL,
      started_at timestamptz,
      lease_until timestamptz,
      worker text,
      CONSTRAINT scheduler_job_runs_under_a_lease CHECK ((state = 'running') = (lease_until IS NOT NULL)),
      CONSTRAINT scheduler_job_has_started CHECK (
        state <> 'running' OR (epoch >= 1 AND attempt >= 1 AND started_at IS NOT NULL AND worker IS NOT NULL)
      )
    )
  `,
  // Partial, so that each query reads only the jobs that it needs: a claim
  // never passes over those that wait for a slot, or that run.
  sql`CREATE INDEX scheduler_job_pending ON scheduler_job (lane_id, position) WHERE state = 'pending'`,
  sql`CREATE INDEX scheduler_job_queued ON scheduler_job (position) WHERE state = 'queued'`,
  sql`CREATE INDEX scheduler_job_running ON scheduler_job (lease_until) WHERE state = 'running'`,
  sql`CREATE INDEX scheduler_job_waiting ON scheduler_job (enqueued_at) WHERE state <> 'running'`
])

/**
 * Records how many jobs may hold a slot of a lane. This is the cap, or more after the cap
 * was lowered while the slots were held.
 */
export const heldMax = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_lane ADD COLUMN held_max int4 NOT NULL DEFAULT 0`,
  sql`UPDATE scheduler_lane SET held_max = greatest(cap, held)`
])

/** Indexes for claims of some kinds, and for jobs that wait for their next worker. */
export const pools = Migrations.statements((sql) => [
  sql`CREATE INDEX scheduler_job_claimable ON scheduler_job (kind, position) WHERE state = 'queued'`,
  // Only jobs that a worker released or lost, of which there are few.
  sql`
    CREATE INDEX scheduler_job_resumable ON scheduler_job (started_at)
    WHERE state = 'queued' AND started_at IS NOT NULL
  `,
  sql`DROP INDEX scheduler_job_queued`
])

/** The offers of workers. */
export const offers = Migrations.statements((sql) => [
  sql`
    CREATE TABLE scheduler_worker (
      id text PRIMARY KEY,
      name text NOT NULL,
      kinds text[] NOT NULL,
      slots int4 NOT NULL CHECK (slots >= 1),
      until timestamptz NOT NULL
    )
  `
])

/**
 * Leases of workers instead of jobs, and jobs that run alone. Workers of earlier builds continue
 * beside new ones: they set `lease_until` of a job instead of `lease`, find only such jobs
 * expired, and claim jobs that should run alone like others.
 */
export const workerLeases = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_worker ADD COLUMN lease text`,
  sql`CREATE UNIQUE INDEX scheduler_worker_lease ON scheduler_worker (lease)`,
  sql`
    ALTER TABLE scheduler_job
      ADD COLUMN lease text,
      ADD COLUMN alone_from timestamptz,
      DROP CONSTRAINT scheduler_job_runs_under_a_lease,
      ADD CONSTRAINT scheduler_job_runs_under_a_lease CHECK (
        (state = 'running') = (lease IS NOT NULL OR lease_until IS NOT NULL)
      )
  `,
  sql`CREATE INDEX scheduler_job_leased ON scheduler_job (lease) WHERE state = 'running'`,
  // Only jobs whose last but one attempt was lost, of which there are few.
  sql`
    CREATE INDEX scheduler_job_alone ON scheduler_job (alone_from)
    WHERE state = 'queued' AND alone_from IS NOT NULL
  `,
  sql`DROP INDEX scheduler_job_running`
])

/**
 * Weights of lanes and shares of jobs, and the order of claims. A worker of an earlier build
 * claims the jobs in the order of their positions until it is replaced, and the jobs that an
 * earlier build queues have the share 0.
 */
export const fairClaims = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_lane ADD COLUMN weight int4 NOT NULL DEFAULT 1 CHECK (weight >= 1)`,
  sql`ALTER TABLE scheduler_job ADD COLUMN share float8 NOT NULL DEFAULT 0 CHECK (share >= 0)`,
  sql`CREATE INDEX scheduler_job_by_share ON scheduler_job (kind, share, position) WHERE state = 'queued'`,
  sql`CREATE INDEX scheduler_job_held ON scheduler_job (lane_id, position) WHERE state <> 'pending'`,
  sql`DROP INDEX scheduler_job_claimable`
])

/**
 * Room in each page for the counters and leases that are updated in place, so that an update
 * changes no index. It applies to pages that are written from now on.
 */
export const roomForUpdates = Migrations.statements((sql) =>
  ["scheduler_group", "scheduler_lane", "scheduler_worker"].map((table) =>
    sql`ALTER TABLE ${sql.literal(table)} SET (fillfactor = 60)`
  )
)

/**
 * Marks jobs whose work continues at an upstream while they wait for their next worker. Workers of earlier builds
 * do not write the column. A job that they should have marked waits until its model has room. A job whose mark they
 * should have removed is claimed once more than necessary.
 */
export const resumable = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_job ADD COLUMN resumable bool NOT NULL DEFAULT false`,
  // Only jobs that a worker released or lost, of which there are few.
  sql`
    CREATE INDEX scheduler_job_continued ON scheduler_job (kind, share, position)
    WHERE state = 'queued' AND resumable
  `
])

/** When workers started. Workers of earlier builds do not record it. */
export const workerStarts = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_worker ADD COLUMN started_at timestamptz`
])

/** Workers that operators drain. Workers of earlier builds ignore it. */
export const workerDrains = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_worker ADD COLUMN draining bool NOT NULL DEFAULT false`
])

/**
 * Delayed jobs. Builds without them neither place nor cancel them. A job whose queue was full when it was due has a later
 * `try_at`.
 */
export const delayedJobs = Migrations.statements((sql) => [
  sql`
    CREATE TABLE scheduler_delayed (
      id uuid PRIMARY KEY,
      lane_id text COLLATE "C" NOT NULL REFERENCES scheduler_lane (id),
      group_id text COLLATE "C" NOT NULL,
      epoch int4 NOT NULL DEFAULT 0 CHECK (epoch >= 0),
      kind text NOT NULL CHECK (length(kind) <= 128),
      payload json NOT NULL,
      attempts_max int4 NOT NULL CHECK (attempts_max >= 1),
      time_limit_ms int8 CHECK (time_limit_ms >= 0),
      waiting_max int4,
      unique_key text COLLATE "C" CHECK (length(unique_key) BETWEEN 1 AND 255),
      enqueued_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      try_at timestamptz NOT NULL,
      refusals int4 NOT NULL DEFAULT 0 CHECK (refusals >= 0)
    )
  `,
  sql`CREATE INDEX scheduler_delayed_due ON scheduler_delayed (try_at, id)`,
  sql`CREATE INDEX scheduler_delayed_of_lane ON scheduler_delayed (lane_id)`,
  sql`
    CREATE UNIQUE INDEX scheduler_delayed_by_unique_key ON scheduler_delayed (group_id, unique_key)
    WHERE unique_key IS NOT NULL
  `
])

/**
 * Jobs that run again after a failure. They are delayed meanwhile, and keep their epoch, so that `epoch = 0` no longer means that
 * a job has not started: `started_at IS NULL` does. Workers of earlier builds leave the shares of such jobs as they are.
 */
export const retries = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_job ADD COLUMN failures int4 NOT NULL DEFAULT 0 CHECK (failures >= 0)`,
  sql`
    ALTER TABLE scheduler_delayed
      ADD COLUMN failures int4 NOT NULL DEFAULT 0 CHECK (failures >= 0),
      ADD COLUMN checkpoint json
  `
])

/**
 * Unique keys of jobs. Builds without them accept jobs whatever their keys are, and a job that they delay after a failure, or
 * place when it is due, no longer has its key.
 */
export const uniqueKeys = Migrations.statements((sql) => [
  sql`
    ALTER TABLE scheduler_job
      ADD COLUMN unique_key text COLLATE "C" CHECK (length(unique_key) BETWEEN 1 AND 255)
  `,
  sql`
    CREATE UNIQUE INDEX scheduler_job_by_unique_key ON scheduler_job (group_id, unique_key)
    WHERE unique_key IS NOT NULL
  `
])

/**
 * The jobs of a lane by state, in their order. A job is in one of these indexes at a time, so that a lease writes only one entry
 * besides that of the primary key. That of running jobs is also read as a whole, to find those that were lost.
 */
export const indexesOfLanes = {
  scheduler_job_pending_of_lane: "ON scheduler_job (lane_id, priority DESC, position) WHERE state = 'pending'",
  scheduler_job_queued_of_lane: "ON scheduler_job (lane_id, position) WHERE state = 'queued'",
  scheduler_job_running_of_lane: "ON scheduler_job (lane_id, position) WHERE state = 'running'"
}

/**
 * The indexes that `indexesOfLanes` replaces. Without them, workers of earlier builds read all pending jobs of a lane to promote
 * one, and the whole table to set the shares of a lane, until they are replaced.
 */
export const replacedIndexes = [
  "scheduler_job_pending",
  "scheduler_job_pending_by_priority",
  "scheduler_job_held",
  "scheduler_job_leased"
]

/** Up to which time the ticks of cron schedules were enqueued. Builds without them ignore it. */
export const schedules = Migrations.statements((sql) => [
  sql`
    CREATE TABLE scheduler_schedule (
      name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 128),
      handled_until timestamptz NOT NULL
    )
  `
])

/**
 * Adds a job in SQL, as a delayed one, which the next worker places in its lane. The group is locked before a lane is inserted,
 * as in `lanes.ts`. A lane that exists keeps its cap, since the function promotes no jobs.
 */
export const addJob = Migrations.statements((sql) => [
  sql`
    CREATE FUNCTION scheduler_add_job(
      ${sql.literal(AddJob.required)}
      job uuid DEFAULT gen_random_uuid(),
      ${sql.literal(AddJob.options)}
    ) RETURNS uuid LANGUAGE plpgsql AS $$
    #variable_conflict use_variable
    DECLARE
      at timestamptz := coalesce(run_at, statement_timestamp());
      found text;
    BEGIN
      ${sql.literal(AddJob.lane)}
      IF EXISTS (SELECT 1 FROM scheduler_job AS existing WHERE existing.id = job) THEN
        RETURN job;
      END IF;
      INSERT INTO scheduler_delayed (
        id, lane_id, group_id, kind, payload, attempts_max, time_limit_ms, waiting_max, enqueued_at, due_at, try_at
      )
      VALUES (
        job, lane, job_group, kind, payload, attempts_max, ceil(extract(epoch FROM time_limit) * 1000), waiting_max,
        statement_timestamp(), at, at
      )
      ${sql.literal(AddJob.end)}
  `
])
