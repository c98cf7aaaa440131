/** The rows of the chart as a table. */
import { Card } from "../../components/Card.tsx"
import { planName } from "../../components/JobStatus.tsx"
import { names } from "../../components/names.ts"
import { type Column, Table } from "../../components/Table.tsx"
import { count } from "../../format/number.ts"
import type { UsageRow } from "./rows.ts"

/** The table, the latest day first. */
export const UsageTable = ({ rows }: { readonly rows: ReadonlyArray<UsageRow> }) => (
  <Card title="By day" flush>
    <Table
      label="Usage by day"
      rows={rows.toReversed()}
      rowKey={({ day, key, kind, model, plan }) => `${day} ${plan} ${model} ${kind} ${key?.id}`}
      columns={rows.some(({ key }) => key !== undefined)
        ? [...firstColumns, keyColumn, ...figures]
        : [...firstColumns, ...figures]}
    />
  </Card>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const figure = (title: string, pick: (row: UsageRow) => number): Column<UsageRow> => ({
  title,
  isNumber: true,
  cell: (row) => <span className={names(pick(row) === 0 && "text-muted")}>{count(pick(row))}</span>
})

const firstColumns: ReadonlyArray<Column<UsageRow>> = [
  { title: "Day", className: "tabular-nums whitespace-nowrap", cell: ({ day }) => day },
  { title: "Plan", cell: ({ plan }) => planName(plan) },
  { title: "Model", cell: ({ model }) => <span className="font-mono text-xs whitespace-nowrap">{model}</span> }
]

const keyColumn: Column<UsageRow> = {
  title: "Key",
  cell: ({ key }) => key?.name ?? key?.id ?? <span className="text-muted">none</span>
}

const figures: ReadonlyArray<Column<UsageRow>> = [
  figure("Completed", ({ completed }) => completed),
  figure("Failed", ({ failed }) => failed),
  figure("Cancelled", ({ cancelled }) => cancelled),
  figure("Credits", ({ credits }) => credits)
]
