/** Many plans whose periods end in the same minute, and three servers of which two are killed meanwhile. */
import { assert, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Schedule } from "effect"
import * as Books from "../src/Books.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"

const accounts = 2_000
const tier = "pro"
const balanceCents = 100_000
const { credits, priceCents } = PlanTable.defaults.credits[tier]

it.live("renews each of 2,000 plans once while two of three servers are killed", () =>
  Effect.gen(function*() {
    const databaseUrl = yield* TestDatabase.postgresUrl
    const site = yield* Site.make({ databaseUrl })
    const { sql } = yield* DatabaseLocks.connect(databaseUrl)
    const start = Program.startServer({ ...site.environment, KINORA_DEMO_ACCOUNT: "false" })
    const killed = [yield* start, yield* start]
    yield* start
    yield* sql(dueAccounts)

    const renewed = Effect.map(
      sql("SELECT count(*)::int4 AS count FROM accounts_movement WHERE kind = 'renewal'"),
      ([row]) => Number(Object(row).count)
    )
    const awaitRenewed = (count: number) =>
      Effect.repeat(renewed, { until: (now) => now >= count, schedule: Schedule.spaced("50 millis") })
    for (const [n, server] of killed.entries()) {
      const count = yield* awaitRenewed(accounts / 4 * (n + 1))
      assert.isBelow(count, accounts)
      yield* server.kill
    }
    yield* awaitRenewed(accounts)

    const paid = {
      accounts,
      balance_cents: balanceCents - priceCents,
      days: PlanTable.defaults.periodDays,
      payments: 1
    }
    assert.deepStrictEqual(yield* sql(payments), [paid])
    assert.deepStrictEqual(yield* sql(lots), [{ accounts, credits, lots: 1 }])
    assert.deepStrictEqual((yield* Books.use(site, Books.verify)).problems, [])
  }), { timeout: 300_000 })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Inserts accounts with a balance whose plans end at the same time, half a minute from now. */
const dueAccounts = `
  WITH account AS (
    INSERT INTO accounts_account (id, email, email_key, status, created_at, balance_cents)
    SELECT gen_random_uuid(), n || '@example.com', n || '@example.com', 'active', now(), ${balanceCents}
    FROM generate_series(1, ${accounts}) n
    RETURNING id
  ), deposit AS (
    INSERT INTO accounts_movement (account, kind, reference, cents, balance_cents, at)
    SELECT id, 'deposit', 'start', ${balanceCents}, ${balanceCents}, now()
    FROM account
  )
  INSERT INTO accounts_plan (account, plan_group, tier, period_end, auto_renew)
  SELECT id, 'credits', '${tier}', date_trunc('second', now()) + interval '30 seconds', true
  FROM account
`

/** Counts the accounts by what they paid, and by the ends of their plans. */
const payments = `
  SELECT count(*)::int4 AS accounts, balance_cents, days, payments
  FROM (
    SELECT
      account.balance_cents::int4,
      round(extract(epoch FROM plan.period_end - account.created_at) / 86400)::int4 AS days,
      (SELECT count(*)::int4 FROM accounts_movement WHERE account = account.id AND kind = 'renewal') AS payments
    FROM accounts_account account
    JOIN accounts_plan plan ON plan.account = account.id
  ) paid
  GROUP BY balance_cents, days, payments
`

/** Counts the accounts by their lots. */
const lots = `
  SELECT count(*)::int4 AS accounts, credits, lots
  FROM (SELECT sum(granted)::int4 AS credits, count(*)::int4 AS lots FROM ledger_lot GROUP BY account) granted
  GROUP BY credits, lots
`
