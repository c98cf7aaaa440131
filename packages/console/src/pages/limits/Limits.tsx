/** The limits of the account. */
import { useQuery } from "@tanstack/react-query"
import { accountQuery } from "../../api/queries.ts"
import type { Account } from "../../api/types.ts"
import { Card, Page } from "../../components/Card.tsx"
import { Loaded, Skeleton } from "../../components/States.tsx"
import { type Column, Table } from "../../components/Table.tsx"
import { bytes, count, plural } from "../../format/number.ts"

interface Limit {
  readonly name: string
  readonly value: string
  readonly effect: string
  readonly code: string
}

/** The page. */
export const Limits = () => (
  <Page
    title="Limits"
    about={
      <>
        Each limit with its effect. The error codes are explained in the{" "}
        <a href="/docs" className="underline">API reference</a>.
      </>
    }
  >
    <Loaded query={useQuery(accountQuery)} what="Limits" loading={<Skeleton className="h-96" />}>
      {(account) => (
        <>
          <LimitCard title="Requests" limits={requestLimits(account)} />
          {keyLimits(account).length > 0 && <LimitCard title="This API key" limits={keyLimits(account)} />}
          <LimitCard title="Jobs" limits={jobLimits(account)} />
          <LimitCard title="Results" limits={resultLimits(account)} />
        </>
      )}
    </Loaded>
  </Page>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const LimitCard = ({ limits, title }: { readonly title: string; readonly limits: ReadonlyArray<Limit> }) => (
  <Card title={title} flush>
    <Table
      label={title}
      rows={limits}
      rowKey={({ name }) =>
        name}
      columns={columns}
    />
  </Card>
)

const columns: ReadonlyArray<Column<Limit>> = [
  { title: "Limit", className: "min-w-44 font-medium", cell: ({ name }) => name },
  { title: "Value", className: "min-w-44 tabular-nums", cell: ({ value }) => value },
  { title: "Beyond it", className: "min-w-64 text-muted", cell: ({ effect }) => effect },
  {
    title: "Code",
    cell: ({ code }) => code === "" ? "–" : <code className="font-mono text-xs whitespace-nowrap">{code}</code>
  }
]

const requestLimits = ({ api, plans }: Account): ReadonlyArray<Limit> => [
  {
    name: "Requests per key",
    value: `${count(api.key_rpm_cap)} per minute`,
    effect: "Rejected until the minute ends. Retry-After has the seconds.",
    code: "rate_limited"
  },
  ...(["studio", "credits"] as const).map((plan) => ({
    name: plan === "studio" ? "New Studio jobs" : "New Credits jobs",
    value: `${count(plans[plan].create_rpm)} per minute`,
    effect: "Rejected until the minute ends.",
    code: "rate_limited"
  }))
]

/** The limits of the API key of the session. */
const keyLimits = ({ api: { key_budget: budget } }: Account): ReadonlyArray<Limit> =>
  budget === null ? [] : ([
    ["Credits of this key per day", budget.used.day.credits, budget.credits_per_day, "Rejected until 00:00 UTC."],
    ["Jobs of this key per day", budget.used.day.jobs, budget.jobs_per_day, "Rejected until 00:00 UTC."],
    ["Credits of this key per month", budget.used.month.credits, budget.credits_per_month, monthEnd],
    ["Jobs of this key per month", budget.used.month.jobs, budget.jobs_per_month, monthEnd]
  ] as const).flatMap(([name, used, limit, effect]) =>
    limit === null ? [] : [{ name, value: `${count(used)} of ${count(limit)}`, effect, code: "key_budget_exceeded" }]
  )

const monthEnd = "Rejected until the month ends, in UTC."

const jobLimits = ({ plans: { credits, studio } }: Account): ReadonlyArray<Limit> => [
  {
    name: "Running Studio jobs",
    value: plural(studio.concurrency, "job"),
    effect: "Further jobs wait.",
    code: ""
  },
  {
    name: "Running Credits jobs",
    value: plural(credits.concurrency, "job"),
    effect: "Further jobs wait.",
    code: ""
  },
  ...(studio.quota === null ? [] : [
    {
      name: "Studio images",
      value: `${count(studio.quota.image.used)} of ${count(studio.quota.image.limit)} today`,
      effect: "Rejected until 00:00 UTC. Credits still work.",
      code: "quota_exceeded"
    },
    {
      name: "Studio videos",
      value: `${count(studio.quota.video.used)} of ${count(studio.quota.video.limit)} today`,
      effect: "Rejected until 00:00 UTC. Credits still work.",
      code: "quota_exceeded"
    }
  ]),
  {
    name: "Credits",
    value: `${count(credits.credits_remaining)} left`,
    effect: "Jobs that cost more are rejected.",
    code: "insufficient_credits"
  }
]

const resultLimits = ({ results: { api_ttl_hours, download } }: Account): ReadonlyArray<Limit> => [
  {
    name: "Retention",
    value: plural(api_ttl_hours, "hour"),
    effect: "The result is deleted. Download what you keep.",
    code: "result_expired"
  },
  {
    name: "Downloads",
    value: `${
      download.used_bytes_today === null ? "" : `${bytes(download.used_bytes_today)} of `
    }${download.user_gib_per_day} GiB today`,
    effect: "Rejected until 00:00 UTC.",
    code: "download_limited"
  },
  {
    name: "Downloads of one result",
    value: `${download.job_download_multiple} × its size per day`,
    effect: "Rejected until 00:00 UTC.",
    code: "download_limited"
  }
]
