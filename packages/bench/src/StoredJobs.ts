/** Stored jobs of a server that have ended, in any number, with what a job leaves behind in the other tables. */
import { TypeId } from "@kinora/persistence"
import { Effect } from "effect"
import { attempt, type BenchmarkFailure } from "./Benchmark.ts"
import type { AccountWithKey } from "./KinoraAccounts.ts"
import type { KinoraServer } from "./KinoraServer.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as SortedIds from "./SortedIds.ts"

/** Number of accounts that share the jobs. */
export const accountCount = 50

/** Stored jobs. */
export interface StoredJobs {
  readonly accounts: ReadonlyArray<AccountWithKey>
  /** Returns ids of randomly chosen jobs of each account, in the order of the accounts. */
  readonly sample: (jobs: number) => Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, BenchmarkFailure>
}

/**
 * Creates accounts, and jobs that these created during the last 30 days. A tenth has failed, and half are videos. Each has its
 * idempotency key, and each that has completed the charge of a credit.
 */
export const make = Effect.fnUntraced(function*({ database, makeAccounts }: KinoraServer, count: number) {
  const accounts = yield* makeAccounts(accountCount, creditsLeft + Math.ceil(count / accountCount))
  const ids = accounts.map(({ id }) => id)
  yield* attempt("Jobs could not be stored", () =>
    PostgresServer.withClient(database, async (client) => {
      await client.query(insertJobs, [ids, count])
      for (const statement of insertTraces) await client.query(statement, [ids])
    }))
  const stored: StoredJobs = {
    accounts,
    sample: (jobs) =>
      attempt("The jobs could not be read", () =>
        PostgresServer.withClient(database, async (client) => {
          const { rows } = await client.query<{ id: string; account: string }>(
            "SELECT id, account FROM generation_job WHERE account = ANY($1) ORDER BY random() LIMIT $2",
            [ids, jobs]
          )
          const byAccount = Map.groupBy(rows, ({ account }) => account)
          return ids.map((account) => (byAccount.get(account) ?? []).map(({ id }) => generationId.fromUuid(id)))
        }))
  }
  return stored
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const generationId = TypeId.define("gen", "GenerationId")

/** Credits of each account after all charges. */
const creditsLeft = 20_000

const insertJobs = `
  INSERT INTO generation_job (
    id, account, model, kind, mode, plan, status, prompt, params, cost_credits, refunded, failure, result_expires_at,
    created_at, started_at, finished_at
  )
  SELECT
    ${SortedIds.uuidInSql("created_at", "random")},
    ($1::text[])[1 + n % cardinality($1::text[])], 'kinora-draft', kind, 'text_to_' || kind, 'credits', status,
    'a lake at dawn, mist between the hills', '{"aspect_ratio":"16:9"}', 1, status = 'failed',
    CASE status WHEN 'failed' THEN '{"code":"generation_failed","message":"","reason":null}'::jsonb END,
    CASE status WHEN 'completed' THEN created_at + interval '1 day' END,
    created_at, created_at + interval '1 second', created_at + interval '10 seconds'
  FROM generate_series(1, $2::int) AS n
  CROSS JOIN LATERAL (
    SELECT
      now() - interval '30 days' + n * (interval '29 days' / $2) AS created_at,
      md5(n::text) AS random,
      -- The jobs of an account have each kind and status.
      CASE WHEN n / cardinality($1::text[]) % 10 = 0 THEN 'failed' ELSE 'completed' END AS status,
      CASE WHEN n / cardinality($1::text[]) % 2 = 0 THEN 'image' ELSE 'video' END AS kind
  ) AS job
`

/** Their ids stand for their references, which have as many characters. */
const insertTraces = [
  `INSERT INTO idempotency_claim (scope, identity, fingerprint, reference, claimed_at, expires_at)
   SELECT 'create:' || account, 'key:' || id, repeat('f', 64), 'gen_' || substr(md5(id::text), 1, 26), now(), now() + interval '1 day'
   FROM generation_job WHERE account = ANY($1)`,
  `INSERT INTO ledger_transaction (id, account, kind, reference, at, amount)
   SELECT id, account, 'charge', 'gen_' || substr(md5(id::text), 1, 26), created_at, cost_credits
   FROM generation_job WHERE account = ANY($1) AND status = 'completed'`,
  `INSERT INTO ledger_entry (transaction_id, line, from_book, to_book, amount)
   SELECT charge.id, 0, 'lot:' || lot.id, 'consumed', charge.amount
   FROM ledger_transaction AS charge JOIN ledger_lot AS lot ON lot.account = charge.account
   WHERE charge.account = ANY($1) AND charge.kind = 'charge'`,
  `UPDATE ledger_lot AS lot SET remaining = lot.granted - charged.credits
   FROM (
     SELECT account, sum(amount) AS credits FROM ledger_transaction WHERE kind = 'charge' GROUP BY account
   ) AS charged
   WHERE charged.account = lot.account AND lot.account = ANY($1)`,
  `INSERT INTO generation_usage (account, day, plan, model, kind, completed, failed, cancelled, credits)
   SELECT
     account, (finished_at AT TIME ZONE 'UTC')::date, plan, model, kind, count(*) FILTER (WHERE status = 'completed'),
     count(*) FILTER (WHERE status = 'failed'), 0, coalesce(sum(cost_credits) FILTER (WHERE status = 'completed'), 0)
   FROM generation_job WHERE account = ANY($1) GROUP BY 1, 2, 3, 4, 5`
]
