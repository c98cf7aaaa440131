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
      rowKey={({ day, kind, model, plan }) => `${day} ${plan} ${model} ${kind}`}
      columns={columns}
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

const columns: ReadonlyArray<Column<UsageRow>> = [
  { title: "Day", className: "tabular-nums whitespace-nowrap", cell: ({ day }) => day },
  { title: "Plan", cell: ({ plan }) => planName(plan) },
  { title: "Model", cell: ({ model }) => <span className="font-mono text-xs whitespace-nowrap">{model}</span> },
  figure("Completed", ({ completed }) => completed),
  figure("Failed", ({ failed }) => failed),
  figure("Cancelled", ({ cancelled }) => cancelled),
  figure("Credits", ({ credits }) => credits)
]
