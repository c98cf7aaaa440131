/** The states that all pages share. Each function opens the page at a URL and asserts the state. */
import { assert, vi } from "@effect/vitest"
import type { Page } from "playwright-core"
import type { Tab } from "../../src/console/Tab.ts"
import { answerData, refusal } from "./answers.ts"

/** A state of a page. */
export type State = (tab: Tab, url: string) => Promise<void>

/** Waits until the page shows its data. */
export const awaitReady = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor({ state: "attached" })
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" })
  await page.getByText("Checking…", { exact: true }).waitFor({ state: "detached" })
}

/** A placeholder while data loads, and data afterwards. */
export const loading: State = async ({ page }, url) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await answerData(page, async (route) => {
    await promise
    await route.fallback()
  })
  await page.goto(url)
  await page.getByRole("status", { name: "Loading" }).first().waitFor()
  resolve()
  await awaitReady(page)
  assert.match(await page.title(), / · Kinora$/)
}

/** The message of the service, the id of the request, and a retry that works once the service does. */
export const failed: State = async ({ page, takeRefusals }, url) => {
  const message = "The service cannot do this now."
  const stop = await answerData(page, refusal(500, "internal_error", message))
  await page.goto(url)
  await page.getByRole("alert").filter({ hasText: message }).first().getByText("req_of_the_test").waitFor()
  assert.strictEqual(await page.getByText("All systems operational").count(), 0)
  await stop()
  const retry = page.getByRole("button", { name: "Try again" })
  await vi.waitFor(async () => {
    if (await retry.count() > 0) await retry.first().click({ timeout: 1_000 })
    assert.strictEqual(await retry.count(), 0)
  }, { timeout: 20_000, interval: 100 })
  await awaitReady(page)
  takeRefusals()
}

/** Which limit is reached. */
export const limited: State = async ({ page, takeRefusals }, url) => {
  const message = "300 requests per minute are allowed."
  await answerData(page, refusal(429, "rate_limited", message, { "retry-after": "40" }))
  await page.goto(url)
  const alert = page.getByRole("alert").filter({ hasText: message }).first()
  await alert.getByText("Too many requests", { exact: true }).waitFor()
  takeRefusals()
}

/** A banner while the browser is offline, above the content that was loaded. */
export const offline: State = async ({ context, page }, url) => {
  await page.goto(url)
  await awaitReady(page)
  const title = page.locator("h1").first()
  const before = await title.innerText()
  await context.setOffline(true)
  await page.getByText("You are offline", { exact: true }).waitFor()
  assert.strictEqual(await title.innerText(), before)
  await context.setOffline(false)
  await page.getByText("You are offline", { exact: true }).waitFor({ state: "detached" })
}

/** The sign-in form at the same URL after the session has ended, and then the page again. */
export const expired: State = async ({ context, page, takeRefusals }, url) => {
  const cookies = await context.cookies()
  // The session ends after the page has read it.
  await page.route("**/console/v1/session", async (route) => {
    const response = await route.fetch()
    await context.clearCookies()
    await route.fulfill({ response })
  }, { times: 1 })
  await page.goto(url)
  await page.getByText("Your session has expired", { exact: true }).waitFor()
  assert.strictEqual(page.url(), url)
  const refusals = takeRefusals()
  assert.isNotEmpty(refusals)
  for (const refusal of refusals) assert.match(refusal, /^401 /)
  await context.addCookies(cookies)
  await page.reload()
  await awaitReady(page)
  assert.strictEqual(page.url(), url)
}
