/** Filters of the list of jobs, kept in the URL. */
import type { JobFilters } from "../../api/queries.ts"
import type { Kind, Plan, Status } from "../../api/types.ts"
import { oneOf, textOf } from "../../format/search.ts"

/** The search parameters of the page. */
export interface JobSearch {
  readonly status?: Status
  readonly kind?: Kind
  readonly plan?: Plan
  readonly model?: string
  readonly key?: string
  readonly q?: string
  readonly days?: "1" | "7" | "30"
  readonly view?: "grid"
}

/** Reads the search parameters. Unknown values are ignored. */
export const jobSearch = (search: Readonly<Record<string, unknown>>): JobSearch => ({
  ...oneOf("status", search, ["pending", "queued", "processing", "completed", "failed", "cancelled"]),
  ...oneOf("kind", search, ["image", "video"]),
  ...oneOf("plan", search, ["studio", "credits"]),
  ...textOf("model", search),
  ...textOf("key", search),
  ...textOf("q", search),
  ...oneOf("days", { days: String(search["days"]) }, ["1", "7", "30"]),
  ...oneOf("view", search, ["grid"])
})

/** The filters of the request. */
export const filtersOf = ({ view: _, ...filters }: JobSearch): JobFilters => filters
