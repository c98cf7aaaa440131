/** Usage: figures, chart and table of the same rows. */
import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { accountQuery, usageQuery } from "../../api/queries.ts"
import { Button } from "../../components/Button.tsx"
import { Figure, Figures, Page } from "../../components/Card.tsx"
import { Icon } from "../../components/Icon.tsx"
import { Loaded, Skeleton } from "../../components/States.tsx"
import { useNow } from "../../components/useNow.ts"
import { csv, download } from "../../format/csv.ts"
import { count, percent } from "../../format/number.ts"
import { ChartCard } from "./ChartCard.tsx"
import { changeOf, total, type UsageRow } from "./rows.ts"
import { daysOf } from "./search.ts"
import { UsageTable } from "./UsageTable.tsx"

/** The page. */
export const Usage = () => {
  const search = useSearch({ from: "/usage" })
  const { before, days } = daysOf(search, useNow(60_000))
  const usage = useQuery(usageQuery(days[0] ?? "", days.at(-1) ?? "", search.by === "key"))
  const earlier = useQuery(usageQuery(before[0] ?? "", before.at(-1) ?? "", false))
  const rows = usage.data?.data ?? []
  return (
    <Page
      title="Usage"
      about="Jobs count on the day on which they ended. Days are UTC."
      actions={
        <Button disabled={rows.length === 0} onClick={() => exportRows(rows, days)}>
          <Icon name="download" />Export CSV
        </Button>
      }
    >
      <Loaded query={usage} what="Usage" loading={<Skeleton className="h-96" />}>
        {() => (
          <>
            <Totals
              rows={rows}
              earlier={earlier.isPlaceholderData ? [] : earlier.data?.data ?? []}
              days={days.length}
            />
            <ChartCard days={days} rows={rows} isBusy={usage.isPlaceholderData} />
            {rows.length > 0 && <UsageTable rows={rows} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Totals = ({ days, earlier, rows }: {
  readonly rows: ReadonlyArray<UsageRow>
  readonly earlier: ReadonlyArray<UsageRow>
  readonly days: number
}) => {
  const { data: account } = useQuery(accountQuery)
  const quota = account?.plans.studio.quota?.image
  const completed = total(rows, (row) => row.completed)
  const failed = total(rows, (row) => row.failed)
  const credits = total(rows, (row) => row.credits)
  const against = (now: number, pick: (row: UsageRow) => number) => {
    const change = changeOf(now, total(earlier, pick))
    return change === null ? `in ${days} days` : `${change} against the ${days} days before`
  }
  return (
    <Figures>
      <Figure label="Completed" value={count(completed)} note={against(completed, (row) => row.completed)} />
      <Figure
        label="Failed, refunded"
        value={count(failed)}
        note={completed + failed === 0 ? "no jobs ended" : `${percent(failed, completed + failed)} of ended jobs`}
      />
      <Figure label="Credits charged" value={count(credits)} note={against(credits, (row) => row.credits)} />
      <Figure
        label="Studio images today"
        value={quota === undefined ? "–" : count(quota.used)}
        note={quota === undefined ? "no Studio plan" : `of ${count(quota.limit)}, resets at 00:00 UTC`}
      />
    </Figures>
  )
}

const columns = ["day", "plan", "model", "kind", "completed", "failed", "cancelled", "credits"] as const

const exportRows = (rows: ReadonlyArray<UsageRow>, days: ReadonlyArray<string>) =>
  download(
    `kinora-usage-${days[0]}-${days.at(-1)}.csv`,
    csv(
      [...columns, "key"],
      rows.map((row) => [...columns.map((name) => row[name]), row.key?.name ?? row.key?.id ?? null])
    )
  )
