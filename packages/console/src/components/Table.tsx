/** Tables and their pages. */
import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { names } from "./names.ts"

/** A column of a table. */
export interface Column<Row> {
  readonly title: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** Numbers are aligned to the right, with digits of equal width. */
  readonly isNumber?: boolean
  readonly className?: string
}

/** A table that scrolls inside its card. */
export const Table = <Row extends object>({ columns, label, rowKey, rows }: {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly rowKey: (row: Row) => string
}) => (
  <div
    role="group"
    aria-label={label}
    tabIndex={0}
    className="relative overflow-x-auto focus-visible:-outline-offset-2"
  >
    <table className="table">
      <thead>
        <tr>
          {columns.map(({ isNumber, title }, index) => (
            <th key={index} scope="col" className={isNumber === true ? "!text-right" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ cell, className, isNumber }, index) => (
              <td key={index} className={names(isNumber === true && "text-right tabular-nums", className)}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** The button that loads the next page of a list, if there is one. */
export const LoadMore = ({ query }: {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => Promise<unknown>
  }
}) =>
  query.hasNextPage && (
    <div className="flex justify-center border-t border-line p-3">
      <Button size="sm" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? "Loading…" : "Load more"}
      </Button>
    </div>
  )
