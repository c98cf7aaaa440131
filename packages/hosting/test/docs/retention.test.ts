import { it } from "@effect/vitest"
import * as Settings from "../../src/Settings.ts"
import { code, expectTables, type Table } from "./Page.ts"

const page = "reference/retention.md"

/** The setting of a time with its default. */
const days = (key: string) => {
  const setting = Settings.docs.find((setting) => setting.key === key)
  return [`${setting?.default ?? ""} days`, key] as const
}

/** Tables whose number of rows grows with time unless rows are deleted. */
const growing: ReadonlyArray<readonly [table: string, rows: string, deleted: string, kept: string, setting: string]> = [
  [
    "generation_job",
    "jobs, with their prompts",
    "after their end, once their files are deleted",
    ...days("jobs_ttl_days")
  ],
  ["generation_usage", "one per account, day, plan group, model and kind", "after the day", ...days("usage_ttl_days")],
  ["generation_key_usage", "the same by API key", "after the day", ...days("usage_ttl_days")],
  ["accounts_key", "API keys", "after their revocation", ...days("revoked_keys_ttl_days")],
  ["accounts_key_line", "budgets of API keys", "with the last key of the line", ...days("revoked_keys_ttl_days")],
  ["accounts_key_spending", "one per line of API keys with a budget and day", "after the month", "1 day", ""],
  [
    "operators_audit",
    "changes that operators made, and sign-ins",
    "after the change",
    `${days("audit_ttl_days")[0]}; failed sign-ins: ${days("failed_sign_ins_ttl_days")[0]} (${
      code("failed_sign_ins_ttl_days")
    })`,
    "audit_ttl_days"
  ],
  ["payments_payment", "payments by a checkout", "after their end", ...days("payments_ttl_days")],
  ["webhooks_event", "events that an endpoint selects", "with its last delivery", ...days("webhooks_ttl_days")],
  [
    "webhooks_delivery",
    "one per event and endpoint",
    "after the event, once it has ended",
    ...days("webhooks_ttl_days")
  ],
  ["webhooks_send", "log of sends", "all but the last 20 per endpoint", "", ""],
  ["webhooks_failing", "endpoints whose last send failed", "with a success or a change of the endpoint", "", ""],
  [
    "idempotency_claim",
    "requests that create jobs, and operations of upstreams",
    "when their window has ended",
    "24 hours; operations: the time limit of the job and its download window",
    ""
  ],
  ["sessions_session", "sessions of people", "when they have ended", "7 days; of operators 12 hours", "session_hours"],
  ["sessions_code", "codes of sign-in links", "when they are used or have expired", "10 minutes", ""],
  ["generation_image", "uploads and input images", "when no job needs them", "24 hours", ""],
  ["scheduler_job", "jobs that have not ended", "with the end of the job", "", ""],
  ["scheduler_delayed", "jobs that are not due yet", "when they are due, or are cancelled", "", ""],
  ["scheduler_worker", "running processes", "after the end of the lease", "10 minutes", ""],
  ["rate_limit_minute", "counters of the current minute", "when the minute has ended", "", ""],
  ["rate_limit_day", "counters of the current day", "when the day has ended", "", ""],
  ["rate_limit_window", "counters of windows other than a minute", "when they no longer count", "", ""],
  ["rate_limit_bucket", "token buckets", "when they are full", "", ""],
  ["rate_limit_place", "requests and calls that hold a place", "when they end, or their lease does", "", ""],
  ["generation_upstream_report", "upstreams that fail, per worker", "when the report has expired", "30 seconds", ""],
  ["generation_model_pause", "models that operators paused", "when the model is resumed", "", ""],
  ["host_configuration", "running processes", "when the process ends, or later by another one", "3 minutes", ""]
]

/** Tables whose rows are never deleted. */
const kept: ReadonlyArray<readonly [table: string, rows: string]> = [
  ["ledger_transaction", "charges, refunds, grants, expiries, holds and releases of credits and quotas"],
  ["ledger_entry", "their entries: about one per transaction"],
  ["ledger_lot", "lots of credits"],
  ["ledger_quota", "one per account, day and kind with a Studio job; `verify` compares it with the entries"],
  ["ledger_hold", "holds of credits of an embedding program; Kinora itself has none"],
  ["ledger_forgetting", "accounts of an embedding program whose erasure has begun; Kinora itself has none"],
  ["accounts_movement", "deposits, and renewals of plans"],
  ["ledger_account", "one per account"],
  ["accounts_account", "accounts"],
  ["accounts_plan", "at most one per account and plan group"],
  ["scheduler_lane", "two per account that has created a job"],
  ["scheduler_group", "one per account that has created a job"],
  ["scheduler_schedule", "one per cron schedule of an embedding program; Kinora itself has none"],
  ["webhooks_endpoint", "at most five per account; a removed one is deleted with its last delivery"],
  ["webhooks_secret", "at most five per endpoint; expired ones are deleted with the next rotation"],
  ["sessions_member", "members of accounts; they are removed with the account"],
  ["operators_operator", "operators; a revoked one is kept"],
  ["host_readiness", "one"]
]

const growingTable: Table = {
  head: ["table", "rows", "deleted", "after", "setting"],
  rows: growing.map(([table, rows, deleted, kept, setting]) => [code(table), rows, deleted, kept, code(setting)])
}

const keptTable: Table = { head: ["table", "rows"], rows: kept.map(([table, rows]) => [code(table), rows]) }

it.effect("docs/reference/retention.md lists the tables with their retention", () =>
  expectTables(page, { growing: growingTable, kept: keptTable }))
