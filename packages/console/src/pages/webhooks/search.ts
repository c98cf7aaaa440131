/** The tab of the page of an endpoint, kept in the URL. */
import { oneOf } from "../../format/search.ts"

/** The tabs of the page of an endpoint. */
export const endpointTabs = [
  ["sends", "Sends"],
  ["deliveries", "Deliveries"],
  ["verify", "Verify"],
  ["settings", "Settings"]
] as const

/** A tab. */
export type EndpointTab = typeof endpointTabs[number][0]

/** Reads the search parameters. */
export const endpointSearch = (search: Readonly<Record<string, unknown>>): { readonly tab?: EndpointTab } =>
  oneOf("tab", search, endpointTabs.map(([tab]) => tab))
