/** Responses that tests give instead of the service. */
import type { Page, Route } from "playwright-core"

/** Whether a path returns data of pages. The session decides which page is shown, and the stream never ends. */
const isData = ({ pathname }: URL): boolean =>
  /^\/(v1|console\/v1|admin\/v1|readyz)(\/|$)/.test(pathname) && !/\/(session|events)$/.test(pathname) &&
  !/\/(content|thumb|preview|poster)$/.test(pathname)

/** Gives requests for data this answer, until the returned function is called. Default: all of them. */
export const answerData = async (
  page: Page,
  answer: (route: Route) => Promise<void>,
  path?: RegExp
): Promise<() => Promise<void>> => {
  const isAnswered = (url: URL) => isData(url) && (path === undefined || path.test(url.pathname))
  await page.route(isAnswered, answer)
  return () => page.unroute(isAnswered)
}

/** An error of the service, whose header states that a retry does not help. */
export const refusal =
  (status: number, code: string, message: string, headers: Record<string, string> = {}) =>
  (route: Route): Promise<void> =>
    route.fulfill({
      status,
      headers: { "x-should-retry": "false", "x-request-id": "req_of_the_test", ...headers },
      contentType: "application/json",
      body: JSON.stringify({ error: { code, message, details: {} } })
    })

/** An empty list. */
export const emptyList = (route: Route): Promise<void> =>
  route.fulfill({ contentType: "application/json", body: JSON.stringify({ data: [], next_cursor: null }) })
