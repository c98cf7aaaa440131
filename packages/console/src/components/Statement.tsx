/** Bookings of an account. */
import type { Transaction } from "../api/types.ts"
import { amountOf } from "../format/booking.ts"
import { csv, download } from "../format/csv.ts"
import { count } from "../format/number.ts"
import { Badge } from "./Badge.tsx"
import { Button } from "./Button.tsx"
import { CopyId } from "./Copy.tsx"
import { Icon } from "./Icon.tsx"
import { type Column, Table } from "./Table.tsx"
import { Time } from "./Time.tsx"

const tones = {
  grant: "positive",
  charge: "neutral",
  refund: "accent",
  expire: "warning",
  hold: "neutral",
  release: "accent"
} as const
const labels = {
  grant: "Grant",
  charge: "Charge",
  refund: "Refund",
  expire: "Expiry",
  hold: "Hold",
  release: "Release"
} as const

/** A table of bookings, newest first. */
export const Statement = ({ rows }: { readonly rows: ReadonlyArray<Transaction> }) => (
  <Table label="Statement" rows={rows} rowKey={({ id }) => id} columns={statementColumns} />
)

/** A button that downloads the bookings that are loaded. */
export const ExportStatement = ({ rows }: { readonly rows: ReadonlyArray<Transaction> }) => (
  <Button
    size="sm"
    disabled={rows.length === 0}
    onClick={() =>
      download(
        "kinora-statement.csv",
        csv(
          ["created_at", "id", "kind", "reference", "from", "to", "amount"],
          rows.flatMap(({ created_at, entries, id, kind, reference }) =>
            entries.map(({ amount, from, to }) => [created_at, id, kind, reference, from, to, amount])
          )
        )
      )}
  >
    <Icon name="download" />Export CSV
  </Button>
)

/** Columns of bookings. */
export const statementColumns: ReadonlyArray<Column<Transaction>> = [
  { title: "Time", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Kind", cell: ({ kind }) => <Badge tone={tones[kind]}>{labels[kind]}</Badge> },
  {
    title: "Reference",
    className: "max-w-56",
    cell: ({ reference }) => <CopyId id={reference} label="Copy reference" />
  },
  {
    title: "Movements",
    className: "min-w-64",
    cell: ({ entries }) => (
      <ul className="font-mono text-xs text-muted">
        {entries.map(({ amount, from, to }, index) => (
          <li key={index} className="break-all">{count(amount)}: {from} → {to}</li>
        ))}
      </ul>
    )
  },
  {
    title: "Amount",
    isNumber: true,
    cell: (transaction) => <span className="font-medium whitespace-nowrap">{amountOf(transaction)}</span>
  }
]
