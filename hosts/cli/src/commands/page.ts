/** Flags and output of lists with pages. */
import type { Option } from "effect"
import * as Output from "../Output.ts"
import { given, intBetween, optionalText } from "./flags.ts"

/** The sizes of pages. */
export interface PageSizes {
  readonly maximum: number
  readonly usual: number
}

/** The flags of a page of things: its size, and where it begins. */
export const page = (things: string, sizes: PageSizes = { maximum: 100, usual: 20 }) => ({
  limit: intBetween("limit", `Maximum number of ${things}`, { minimum: 1, ...sizes }),
  cursor: optionalText("cursor", "next_cursor of the page before")
})

/** Returns the query of a page. */
export const pageQuery = (
  { cursor, limit }: { readonly limit: number; readonly cursor: Option.Option<string> }
) => ({ limit, ...given({ cursor }) })

/** Shows a page as a table, and how to get the next one. */
export const showPage = <Row>(
  page: { readonly data: ReadonlyArray<Row>; readonly next_cursor: string | null },
  columns: ReadonlyArray<Output.Column<Row>>,
  nothing: string
) => {
  const table = Output.table(page.data, columns, nothing)
  return Output.show(
    page,
    page.next_cursor === null ? table : `${table}\nMore: --cursor ${argumentOf(page.next_cursor)}`
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Quotes a cursor that a shell could read as more than one word, such as one with a reference. */
const argumentOf = (cursor: string): string => /^[\w-]+$/.test(cursor) ? cursor : `"${cursor}"`
