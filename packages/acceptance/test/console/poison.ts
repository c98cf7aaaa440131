/** Responses in which every text from outside is markup that would run a script. */
import type { Route } from "playwright-core"
import { type ConsolePage, pages } from "../../src/console/ConsolePages.ts"

/** Markup that sets a global variable and opens a dialog if a page renders it as HTML. */
export const markup = "<img src=x onerror=\"hacked=1;alert(1)\"><script>hacked=1;alert(2)</script>"

/** Fetches the response of the service and replaces the texts in it. */
export const poison = async (route: Route): Promise<void> => {
  const response = await route.fetch()
  const text = await response.text()
  if (!response.headers()["content-type"]?.startsWith("application/json")) return await route.fulfill({ response })
  await route.fulfill({ response, body: JSON.stringify(replace(JSON.parse(text))) })
}

/** Views that show texts, of pages that otherwise show none. */
const views: Readonly<Record<string, Pick<ConsolePage, "path">>> = { usage: { path: () => "/usage?by=key" } }

/** Pages that show numbers and words of the service alone. */
const without: ReadonlySet<string> = new Set([
  "limits",
  "not-found",
  "operator-health",
  "operator-ledger",
  "operator-models",
  "operator-queue"
])

/** Pages with text from outside. The others show numbers and words of the service alone. */
export const poisonedPages = pages.flatMap(({ name, viewer, ...page }) =>
  viewer === "nobody" || without.has(name) ? [] : [{ name, viewer, ...page, ...views[name] }]
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Properties whose values users, receivers, upstreams and operators choose. */
const texts: ReadonlySet<string> = new Set([
  "action",
  "actor",
  "address",
  "description",
  "device",
  "email",
  "host",
  "message",
  "name",
  "prompt",
  "reason",
  "reference",
  "type",
  "user_agent",
  "version",
  "worker"
])

const replace = (value: unknown, property = ""): unknown => {
  if (typeof value === "string") return texts.has(property) ? markup : value
  if (Array.isArray(value)) return value.map((item) => replace(item, property))
  if (typeof value !== "object" || value === null) return value
  // The URL of an endpoint is text, unlike those of results, which the service makes.
  const isEndpoint = "secret_created_at" in value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isEndpoint && name === "url" ? `javascript:hacked=1//${markup}` : replace(item, name)
    ])
  )
}
