/**
 * The rows of a creation in one statement, without any check: the job, its idempotency key, and a charge in double entry.
 * A bound of services that create one job per transaction.
 */
import * as PgPool from "@kinora/testkit/PgPool"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { attempt } from "../Benchmark.ts"
import * as Callers from "../Callers.ts"
import { textbook } from "../peers/Textbook.ts"
import { callers, type Limit, type Probe } from "./Probe.ts"

/** Measures the statement on the tables of the textbook peer, with 1,000 accounts. */
export const probe: Probe = Effect.fnUntraced(function*({ database, seconds, tidy }) {
  const url = yield* database
  const accounts = yield* attempt("The accounts could not be created", async () => {
    await textbook.prepare(url)
    await textbook.makeKeys(url, 1_000, 1_000_000)
    return idsOf(url)
  })
  yield* tidy(url)
  return yield* attempt("The statement failed", async () => {
    const pool = PgPool.make(url)
    try {
      const limits: Array<Limit> = []
      for (const count of callers) {
        const { round: { p50 = 0, perSecond } } = await Callers.ofPromises(
          { callers: count, seconds },
          (n) =>
            pool.query({
              name: "create",
              text: statement,
              values: [accounts[n % accounts.length], randomUUID(), randomUUID(), params]
            })
        )
        limits.push({ what: "rows of a creation in one statement, and commit", callers: count, perSecond, p50 })
      }
      return limits
    } finally {
      await pool.end()
    }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const params = JSON.stringify({ prompt: "a lake at dawn, mist between the hills", aspect_ratio: "16:9" })

const statement = `
  WITH drawn AS (UPDATE lot SET remaining = remaining - 1 WHERE account = $1::uuid RETURNING id),
    claimed AS (
      INSERT INTO idempotency (account, key, fingerprint, job, expires_at)
      VALUES ($1::uuid, $2::uuid::text, 'fingerprint', $2::uuid, now() + interval '24 hours')
    ),
    charge AS (
      INSERT INTO ledger_transaction (id, account, kind, reference) VALUES ($3, $1::uuid, 'charge', $2::uuid::text) RETURNING id
    ),
    entries AS (
      INSERT INTO ledger_entry (transaction, line, book, amount)
      SELECT charge.id, line, CASE line WHEN 0 THEN 'lot:' || drawn.id ELSE 'consumed' END, 2 * line - 1
      FROM charge, drawn, generate_series(0, 1) AS line
    )
  INSERT INTO job (id, account, model, status, params, cost) VALUES ($2::uuid, $1::uuid, 'kinora-draft', 'queued', $4, 1)
`

const idsOf = async (url: string): Promise<ReadonlyArray<string>> => {
  const pool = PgPool.make(url)
  try {
    const { rows } = await pool.query<{ id: string }>("SELECT id FROM account")
    return rows.map(({ id }) => id)
  } finally {
    await pool.end()
  }
}
