/** Statements on plans. */
import { DatabaseTime, Pipelining, Rows } from "@kinora/persistence"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../Account.ts"
import { type Plan, PlanGroup } from "../../Plan.ts"

/** Sets the plan of a group, or deletes it. */
export const savePlan = (
  sql: SqlClient.SqlClient,
  id: AccountId,
  group: PlanGroup,
  plan: Option.Option<Plan<string>>
) =>
  Pipelining.write(
    sql,
    Option.match(plan, {
      onNone: () => sql`DELETE FROM accounts_plan WHERE account = ${AccountId.toUuid(id)} AND plan_group = ${group}`,
      onSome: ({ autoRenew, nextTier = null, periodEnd, tier }) =>
        sql`
        INSERT INTO accounts_plan (account, plan_group, tier, period_end, auto_renew, next_tier)
        VALUES (${AccountId.toUuid(id)}, ${group}, ${tier}, ${DateTime.toDate(periodEnd)}, ${autoRenew}, ${nextTier})
        ON CONFLICT (account, plan_group) DO UPDATE
        SET tier = excluded.tier, period_end = excluded.period_end, auto_renew = excluded.auto_renew,
          next_tier = excluded.next_tier
      `
    })
  )

/** Finds plans that have ended by `endedBy`, and plans that renew and end by `renewableBy`, oldest end first. */
export const findDuePlans = (
  sql: SqlClient.SqlClient,
  { endedBy, limit, renewableBy }: {
    readonly endedBy: DateTime.Utc
    readonly renewableBy: DateTime.Utc
    readonly limit: number
  }
) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT account, plan_group
    FROM accounts_plan
    WHERE period_end <= ${clock.toDatabase(renewableBy)}
      AND (auto_renew OR period_end <= ${clock.toDatabase(endedBy)})
    ORDER BY period_end, account, plan_group
    LIMIT ${limit}
  `).pipe(
      decodeDuePlans,
      Effect.map((rows) =>
        rows.map(({ account, plan_group }) => ({ account: AccountId.fromUuid(account), group: plan_group }))
      )
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeDuePlans = Rows.decodeAll(Schema.Struct({ account: Schema.String, plan_group: PlanGroup }))
