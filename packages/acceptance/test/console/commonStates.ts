/** The states that all pages share. */
import { assert, vi } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import type { Tab } from "../../src/console/Tab.ts"
import { answerData, refusal } from "./answers.ts"

/** Waits until the page shows its data. */
export const awaitReady = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor({ state: "attached" })
  await vi.waitFor(async () => {
    assert.strictEqual(await page.getByRole("status", { name: "Loading" }).count(), 0)
    assert.strictEqual(await page.getByText("Checking…", { exact: true }).count(), 0)
  }, { timeout: 30_000, interval: 50 })
}

/** A placeholder while data loads, and data afterwards. */
export const loading = async ({ page }: Tab, url: string): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = await answerData(page, async (route) => {
    await promise
    await route.fallback()
  })
  await page.goto(url)
  await page.getByRole("status", { name: "Loading" }).first().waitFor()
  resolve()
  await awaitReady(page)
  await stop()
  assert.match(await page.title(), / · Kinora$/)
}

/** The message of the service, the id of the request, and a retry; then which limit is reached; then the page. */
export const failing = async ({ page, takeRefusals }: Tab, url: string): Promise<void> => {
  const failure = "The service cannot do this now."
  const limit = "300 requests per minute are allowed."
  const stopFailing = await answerData(page, refusal(500, "internal_error", failure))
  await page.goto(url)
  await alertOf(page, failure).getByText("req_of_the_test").waitFor()
  assert.strictEqual(await page.getByText("All systems operational").count(), 0)
  await stopFailing()

  const stopLimiting = await answerData(page, refusal(429, "rate_limited", limit, { "retry-after": "40" }))
  await front(page).getByRole("button", { name: "Try again" }).first().click()
  await alertOf(page, limit).getByText("Too many requests", { exact: true }).waitFor()
  await stopLimiting()

  const retry = front(page).getByRole("button", { name: "Try again" })
  await vi.waitFor(async () => {
    if (await retry.count() > 0) await retry.first().click({ timeout: 1_000 })
    assert.strictEqual(await retry.count(), 0)
  }, { timeout: 20_000, interval: 50 })
  await awaitReady(page)
  takeRefusals()
}

/** A banner while the browser is offline, above the content that was loaded. */
export const offline = async ({ context, page }: Tab): Promise<void> => {
  const title = page.locator("h1").first()
  const before = await title.innerText()
  await context.setOffline(true)
  await page.getByText("You are offline", { exact: true }).waitFor({ state: "attached" })
  assert.strictEqual(await title.innerText(), before)
  await context.setOffline(false)
  await page.getByText("You are offline", { exact: true }).waitFor({ state: "detached" })
}

/** The sign-in form at the same URL if the session ends. The session is back afterwards. */
export const expired = async ({ context, page, takeRefusals }: Tab, url: string): Promise<void> => {
  const cookies = await context.cookies()
  // The session ends after the page has read it.
  await page.route("**/console/v1/session", async (route) => {
    const response = await route.fetch()
    await context.clearCookies()
    await route.fulfill({ response })
  }, { times: 1 })
  takeRefusals()
  await page.goto(url)
  await page.getByText("Your session has expired", { exact: true }).waitFor()
  assert.strictEqual(page.url(), url)
  const refusals = takeRefusals()
  assert.isNotEmpty(refusals)
  for (const refusal of refusals) assert.match(refusal, /^401 /)
  await context.addCookies(cookies)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const alertOf = (page: Page, text: string): Locator => page.getByRole("alert").filter({ hasText: text }).first()

/** The open dialog, which covers the page, or the page. */
const front = (page: Page): Locator => page.locator("body:not(:has(dialog[open])), dialog[open]")
