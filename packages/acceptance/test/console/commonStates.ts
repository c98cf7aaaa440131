/** The states that all pages share. */
import { assert, vi } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import { patience, type Tab } from "../../src/console/Tab.ts"
import { answerData, refusal } from "./answers.ts"

/** Waits until the page shows its data. */
export const awaitReady = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor({ state: "attached" })
  await vi.waitFor(async () => {
    assert.strictEqual(await page.getByRole("status", { name: "Loading" }).count(), 0)
    assert.strictEqual(await page.getByText("Checking…", { exact: true }).count(), 0)
  }, { timeout: patience, interval: 50 })
}

/**
 * Opens a page whose requests fail at first. It shows a placeholder while it loads; then the message of the service, the id of
 * the request and a retry; then which limit is reached; and at last, its data.
 */
export const open = async ({ page, takeRefusals }: Tab, url: string): Promise<void> => {
  const failure = "The service cannot do this now."
  const limit = "300 requests per minute are allowed."
  const fail = refusal(500, "internal_error", failure)
  const { promise, resolve } = Promise.withResolvers<void>()
  await answerData(page, (route) => promise.then(() => fail(route)))
  // Events bring data too.
  await page.route("**/console/v1/events*", fail)
  await page.goto(url)
  await page.getByRole("status", { name: "Loading" }).first().waitFor()
  resolve()
  await alertOf(page, failure).getByText("req_of_the_test").waitFor()
  assert.strictEqual(await page.getByText("All systems operational").count(), 0)

  await answerData(page, refusal(429, "rate_limited", limit, { "retry-after": "40" }))
  await front(page).getByRole("button", { name: "Try again" }).first().click()
  await alertOf(page, limit).getByText("Too many requests", { exact: true }).waitFor()

  await page.unrouteAll()
  const retry = front(page).getByRole("button", { name: "Try again" })
  await vi.waitFor(async () => {
    if (await retry.count() > 0) await retry.first().click({ timeout: 1_000 })
    assert.strictEqual(await retry.count(), 0)
  }, { timeout: patience, interval: 50 })
  await awaitReady(page)
  assert.match(await page.title(), / · Kinora$/)
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

/** The sign-in form at the same URL if the session ends. */
export const expired = async ({ context, page, takeRefusals }: Tab, url: string): Promise<void> => {
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
}

/** Runs a function that changes how the tab reaches the service, and restores it afterwards. */
export const restoring = async ({ context, page, takeRefusals }: Tab, run: () => Promise<void>): Promise<void> => {
  const cookies = await context.cookies()
  try {
    await run()
  } finally {
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await context.setOffline(false)
    await context.addCookies(cookies)
    takeRefusals()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const alertOf = (page: Page, text: string): Locator => page.getByRole("alert").filter({ hasText: text }).first()

/** The open dialog, which covers the page, or the page. */
const front = (page: Page): Locator => page.locator("body:not(:has(dialog[open])), dialog[open]")
