/** Filters of the search for jobs, kept in the URL. */
import type { Status } from "../../../api/types.ts"
import { oneOf, textOf } from "../../../format/search.ts"

/** The search parameters of the page. */
export interface OperatorJobSearch {
  readonly status?: Status
  readonly account?: string
  readonly model?: string
}

/** Reads the search parameters. */
export const operatorJobSearch = (search: Readonly<Record<string, unknown>>): OperatorJobSearch => ({
  ...oneOf("status", search, ["pending", "queued", "processing", "completed", "failed", "cancelled"]),
  ...textOf("account", search),
  ...textOf("model", search)
})
