/** A list in pages, in all its states. */
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Card } from "../../components/Card.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Empty, SkeletonRows } from "../../components/States.tsx"
import { type Column, LoadMore, Table } from "../../components/Table.tsx"

/** The rows of all pages that are loaded. */
export const rowsOf = <Row extends object>(
  query: UseInfiniteQueryResult<InfiniteData<{ readonly data: ReadonlyArray<Row> }>>
): ReadonlyArray<Row> => query.data?.pages.flatMap(({ data }) => data) ?? []

/** A card with the table of a list. */
export const ListCard = <Row extends object>({ actions, columns, empty, query, rowKey, title }: {
  readonly title: string
  readonly actions?: ReactNode
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly data: ReadonlyArray<Row> }>>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rowKey: (row: Row) => string
  readonly empty: string
}) => {
  const rows = rowsOf(query)
  return (
    <Card title={title} actions={actions} flush>
      {query.isPending && <SkeletonRows />}
      {query.isError && (
        <div className="p-5">
          <Problem title={`${title} could not be loaded`} error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.isSuccess && rows.length === 0 && <Empty title={empty} />}
      {rows.length > 0 && <Table label={title} rows={rows} rowKey={rowKey} columns={columns} />}
      <LoadMore query={query} />
    </Card>
  )
}
