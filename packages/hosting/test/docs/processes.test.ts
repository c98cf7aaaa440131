/** Compares the tables of `docs/reference/processes.md` with the flags, files, sweeps and log messages of the code. */
import { assert, it } from "@effect/vitest"
import { Sweep } from "@kinora/persistence"
import { Duration, Effect, Layer } from "effect"
import * as DataDirectory from "../../src/DataDirectory.ts"
import type * as Process from "../../src/Process.ts"
import * as Webhook from "../../src/Webhook.ts"
import * as Work from "../../src/Work.ts"
import { sweptServices } from "../sweptServices.ts"
import * as LogMessages from "./LogMessages.ts"
import { code, expectTables, rowsOf, type Table } from "./Page.ts"

const flags: Readonly<Record<keyof Process.HostFlags, readonly [flag: string, meaning: string]>> = {
  json: [
    "--json",
    "the server prints `{\"base_url\":…,\"operator_url\":…,\"api_key\":…}` in one line when it accepts requests, a worker " +
    "`{\"workers\":…,\"operator_url\":…}` when it is ready. `operator_url` is the " +
    "[listener for operators](operator-api.md#listener), or `null`. Nothing else is written to standard output"
  ],
  workers: [
    "--workers n",
    "concurrent jobs of this process; 0 on a server if workers run them. Takes precedence over `KINORA_WORKERS`"
  ]
}

const flagTable: Table = {
  head: ["flag", "meaning"],
  rows: Object.values(flags).map(([flag, meaning]) => [code(flag), meaning])
}

const { database, files, ...keys } = DataDirectory.entries

const entryTable: Table = {
  head: ["entry", "content", "with Postgres"],
  rows: rowsOf([`${database}/`, `${files}/`, ...Object.values(keys)], {
    "database/": ["the embedded database", "not used"],
    "files/": ["results, previews, thumbnails, posters, input images", "shared by all processes"],
    "kinora.lock": ["prevents a second process from opening the embedded database", "not used"],
    "url-signing-key": ["signs links if `KINORA_URL_SIGNING_KEYS` is unset", "one per directory"],
    "webhook-key": ["encrypts secrets if `KINORA_WEBHOOK_KEYS` is unset", "one per directory"],
    "demo-account.json": ["key of the demo account", "on one host"]
  })
}

/** Tasks by the names of their sweeps. */
const tasks: Readonly<Record<string, string>> = {
  "slots of jobs that no worker runs":
    "give the slots of jobs whose model no worker runs to other jobs of the account and plan group",
  "plans whose period ends": "renew plans from the balance at the end of their period, or end them",
  "jobs that waited too long": "fail and refund jobs that have waited for 24 hours",
  "jobs of withdrawn models": "fail and refund jobs that wait for a withdrawn model",
  "payments without a webhook":
    "read payments at Stripe whose webhook is missing, after 10 minutes and then at growing pauses up to 6 hours",
  "expired results": "delete the files of results whose download window is over",
  "files of attempts": "delete the files that failed or lost attempts of ended jobs have left",
  "unused images": "delete uploads and input images that no job needs",
  "expired lots": "book expired credits",
  "webhooks":
    "end webhook deliveries that wait for 3 days; delete those that ended 7 days ago, and sends beyond the last 20 of each endpoint",
  "webhook secrets": "re-encrypt webhook secrets of an older key",
  "failing webhook endpoints":
    "disable endpoints that fail for longer than `disableAfter`, which only [a host of your own](../../packages/webhooks/README.md) can set",
  "ended sessions": "delete ended sessions, and sign-in links that were used or have expired",
  "expired idempotency claims": "delete expired idempotency keys",
  "past windows": "delete counters of rate limits that no longer count",
  "leases of dead processes": "delete places of processes that were killed",
  "past days": "delete download budgets of past days",
  "old jobs": "delete old jobs ([retention](retention.md))",
  "old usage": "delete old usage",
  "revoked keys": "delete revoked API keys",
  "old spending of keys": "delete old spending of keys",
  "payments": "delete old payments",
  "audit entries": "delete old audit entries",
  "audit entries of session.signInFailed": "delete old audit entries of failed sign-ins",
  "deleted accounts": "erase deleted accounts"
}

/** The interval of every sweep of a host, by name. */
const intervals = Effect.gen(function*() {
  const found = new Map<string, Duration.Duration>()
  yield* Layer.build(Work.layerSweeps()).pipe(
    Effect.provide(sweptServices),
    Effect.provideService(
      Sweep.Pause,
      (interval, name) =>
        Effect.andThen(Effect.sync(() => found.set(name, Duration.fromInputUnsafe(interval))), Effect.never)
    )
  )
  yield* Effect.yieldNow
  return found
}).pipe(Effect.scoped)

const everyOf = (interval: Duration.Duration) => {
  const seconds = Duration.toSeconds(interval)
  const [count, unit] = seconds % 3_600 === 0
    ? [seconds / 3_600, "hour"]
    : seconds % 60 === 0
    ? [seconds / 60, "minute"]
    : [seconds, "second"]
  return count === 1 ? unit : `${count} ${unit}s`
}

const taskTable = Effect.map(intervals, (found): Table => {
  assert.sameMembers(Object.keys(tasks), Array.from(found.keys()))
  const rows = Object.entries(tasks).map(([name, task]) => ({ interval: found.get(name)!, task }))
  return {
    head: ["task", "every"],
    rows: rows.toSorted((a, b) => Duration.Order(a.interval, b.interval)).map((
      { interval, task }
    ) => [task, everyOf(interval)])
  }
})

/** Messages with what they mean. `…` stands for any text. */
const messages: ReadonlyArray<readonly [messages: ReadonlyArray<string>, meaning: string]> = [
  [
    ["Process … Another one takes its place"],
    "one of the `processes` of a server was killed or ended; its jobs continue in others"
  ],
  [
    ["A payment cannot be credited: refund it at the provider"],
    "the customer has paid, and the account is deleted or has a deposit with the same reference and another amount"
  ],
  [
    ["A payment differs from what was asked for: refund it at the provider"],
    "the amount or the currency of a checkout was changed at Stripe"
  ],
  [
    ["A payment was not read at the provider"],
    "Stripe does not respond or rejects the key; the process reads the payment again"
  ],
  [
    ["The payment provider does not know a checkout: does its key belong to the same account?"],
    "the key of Stripe was replaced by that of another account or mode"
  ],
  [
    ["The worker of a job was lost; the job is queued again"],
    "a worker was killed, or stalled for more than 8 seconds"
  ],
  [
    ["The upstream of a job is not configured any more"],
    "the driver, or the `credential` that took the job, is not in the configuration; the job fails and is refunded"
  ],
  [
    ["Jobs wait for models that no worker runs"],
    "start workers with these models, or withdraw the models; see [pools](../how-to/run-worker-pools.md)"
  ],
  [
    ["Another process of this database has a different configuration"],
    "models, prices, plans or the moderation differ; `differences` lists their keys. Normal during an update; otherwise give " +
    "all processes the same file"
  ],
  [
    ["Observing the queues failed"],
    "the database does not respond; the metrics of queues are out of date"
  ],
  [
    ["Renewing the lease of the worker failed"],
    "the database does not respond; other workers take over the jobs of this one if it lasts for 8 seconds"
  ],
  [["A generation failed"], "an error of the service, with its cause; the job was refunded"],
  [
    ["… … failed"],
    "a request, of which the method and the path are logged, returned 500, or 503 because the database did not respond; with " +
    "the cause"
  ],
  [
    ["New connections are closed, because the maximum number is open"],
    "`listener` has `maximum` open connections. For `clients`, see `max_connections` in " +
    "[configuration](configuration.md#notes); the maximum of `operators` is always 256. Logged at most once a minute"
  ],
  [
    ["New connections of an address are closed, because it has the maximum number"],
    "`address` has `maximum` open connections to `listener`: one client with many of them, or a proxy that is missing in " +
    "`trusted_proxies`. For `clients`, see `max_connections_per_address` in [configuration](configuration.md#notes); the " +
    "maximum of `operators` is always 64. Logged at most once a minute"
  ],
  [["Storage is unavailable", "Blob storage is unavailable"], "clients receive 503 until it is back"],
  [
    ["Webhooks may go to private addresses, …"],
    "`KINORA_WEBHOOK_ALLOW_PRIVATE` is set: not for production"
  ],
  [
    ["Links in webhooks may be unreachable …"],
    "`KINORA_BASE_URL` is unset, so links use the listening address"
  ],
  [
    ["Failed to reseal a webhook secret", "Failed to sign a webhook, …"],
    "this process lacks a key; the endpoint's webhooks wait"
  ],
  [["Failed to make webhook bodies, …"], "a bug in the service; retried every minute"],
  [
    ["Failed to decode webhook deliveries, …", "Failed webhook deliveries whose events do not exist"],
    "rows were edited or damaged; other deliveries continue"
  ],
  [["Failed to claim webhooks, …"], "the database does not respond; nothing is lost, and no send is used up"],
  [
    ["Failed to store outcomes of webhooks, …"],
    "the database does not respond; the outcomes are stored later"
  ],
  [
    ["Removing partial files of crashes failed, …", "A partial file of a crash cannot be removed"],
    "the storage does not respond, or denies access; retried at the next search"
  ],
  [["The sweep of … failed, …"], "a background task failed and runs again at its next time"]
]

/** Logged by the message of an error. */
const keyMissing = [
  code(new Webhook.WebhookKeyMissing({ endpoint: "…" }).message.replace(/that encrypted.*$/s, "…")),
  "ERROR",
  "see [webhook keys](../how-to/rotate-signing-keys.md#webhook-keys); the start ends unless the process sends nothing"
]

const messageTable = Effect.map(Effect.promise(LogMessages.read), (levelOf): Table => ({
  head: ["message", "level", "meaning"],
  rows: [
    ...messages.map(([texts, meaning]) => [
      texts.map(code).join(", "),
      Array.from(new Set(texts.map(levelOf))).join(", "),
      meaning
    ]),
    keyMissing
  ]
}))

it.effect("docs/reference/processes.md lists flags, files, background tasks and log messages", () =>
  Effect.gen(function*() {
    yield* expectTables("reference/processes.md", {
      flags: flagTable,
      entries: entryTable,
      tasks: yield* taskTable,
      messages: yield* messageTable
    })
  }))
