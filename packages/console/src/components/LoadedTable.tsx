/** The table of a list that is loaded at once. */
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Loaded, SkeletonRows } from "./States.tsx"
import { type Column, Table } from "./Table.tsx"

/** The rows of a query as a table, `empty` if there are none, or the state in which the query is. */
export const LoadedTable = <Row extends object>({ empty, label, query, skeletonRows = 5, what = label, ...table }: {
  readonly query: UseQueryResult<{ readonly data: ReadonlyArray<Row> }>
  readonly label: string
  /** Names the rows in the message of an error. Default: the label. */
  readonly what?: string
  /** The number of rows while the query loads. Default 5. */
  readonly skeletonRows?: number
  readonly empty: ReactNode
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rowKey: (row: Row) => string
}) => (
  <Loaded query={query} what={what} loading={<SkeletonRows rows={skeletonRows} />}>
    {({ data }) => data.length === 0 ? empty : <Table label={label} rows={data} {...table} />}
  </Loaded>
)
