/** Output of lists, and flags of those with pages. */
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

/** Shows a list as a table, or `nothing` if it is empty. If it is a page, shows how to get the next one. */
export const showList = <Row>(
  list: { readonly data: ReadonlyArray<Row>; readonly next_cursor?: string | null },
  columns: ReadonlyArray<Output.Column<Row>>,
  nothing: string
) => {
  const table = Output.table(list.data, columns, nothing)
  const { next_cursor: next = null } = list
  return Output.show(list, next === null ? table : `${table}\nMore: --cursor ${argumentOf(next)}`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Quotes a cursor that a shell could read as more than one word, such as one with a reference. */
const argumentOf = (cursor: string): string => /^[\w-]+$/.test(cursor) ? cursor : `"${cursor}"`
