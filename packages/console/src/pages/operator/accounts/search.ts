/** Filters and tabs of the pages of accounts, kept in the URL. */
import { oneOf, textOf } from "../../../format/search.ts"

/** The tabs of an account. */
export const accountTabs = [
  ["plans", "Plans and credits"],
  ["keys", "API keys"],
  ["members", "Members"],
  ["webhooks", "Webhooks"],
  ["jobs", "Jobs"],
  ["statement", "Statement"],
  ["wallet", "Wallet"]
] as const

/** A tab of an account. */
export type AccountTab = typeof accountTabs[number][0]

/** The filters of the list of accounts. */
export interface AccountSearch {
  readonly search?: string
  readonly status?: "active" | "suspended" | "deleted" | "erased"
}

/** Reads the filters. */
export const accountSearch = (search: Readonly<Record<string, unknown>>): AccountSearch => ({
  ...textOf("search", search),
  ...oneOf("status", search, ["active", "suspended", "deleted", "erased"])
})

/** Reads the tab. */
export const accountTab = (search: Readonly<Record<string, unknown>>): { readonly tab?: AccountTab } =>
  oneOf("tab", search, accountTabs.map(([tab]) => tab))
