/** The walk of an operator through the console, from a new account to its refunded job. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import type { Page } from "playwright-core"
import { drills } from "../../src/console/ConsoleHost.ts"
import type { Tab } from "../../src/console/Tab.ts"
import * as Keys from "./keys.ts"
import { openPage } from "./memberWalk.ts"
import * as SignIn from "./signIn.ts"
import type { Stand } from "./Stand.ts"

/** The whole walk. */
export const walk = async (stand: Stand): Promise<void> => {
  const tab: Tab = await stand.open()
  const { page } = tab
  await SignIn.byLink(tab, await stand.operatorLink())
  await page.getByText("All systems operational", { exact: true }).waitFor()
  const account = await createAccount(page, "ada@example.com")
  await grant(page, "invoice-1024")
  await page.getByRole("tab", { name: "API keys" }).click()
  const key = await Keys.create(page, "Server")
  const job = await createJob(stand, key)
  await failJob(page, job, account)
  await verify(page, job)
  assert.deepStrictEqual(tab.takeRefusals(), [])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates an account, and returns its id. Its page is open afterwards. */
const createAccount = async (page: Page, email: string): Promise<string> => {
  await openPage(page, "Accounts")
  await page.getByRole("button", { name: "Create account" }).click()
  const form = page.getByRole("dialog")
  await form.getByLabel("E-mail address").fill(email)
  await form.getByRole("button", { name: "Create account" }).click()
  await page.getByRole("heading", { level: 1, name: email }).waitFor()
  return new URL(page.url()).pathname.split("/").at(-1) ?? ""
}

/** Grants 100 credits to the account whose page is open. */
const grant = async (page: Page, reference: string): Promise<void> => {
  await page.getByRole("button", { name: "Grant credits" }).click()
  const form = page.getByRole("dialog", { name: "Grant credits" })
  await form.getByLabel("Reference").fill(reference)
  await form.getByRole("button", { name: "Grant credits" }).click()
  await page.getByText("100 of 100", { exact: true }).waitFor()
}

/** Fails the running job, and sees that its charge was refunded. */
const failJob = async (page: Page, id: string, account: string): Promise<void> => {
  await openPage(page, "Jobs")
  await page.getByRole("link", { name: "An endless river" }).click()
  await page.waitForURL(new RegExp(`/operator/jobs/${id}$`))
  await page.getByText("Generating", { exact: true }).first().waitFor()
  await page.getByRole("button", { name: "Fail job" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Fail job" }).click()
  await page.getByText("5 credits, refunded", { exact: true }).waitFor()
  await page.getByRole("link", { name: account }).click()
  await page.getByText("100 of 100", { exact: true }).waitFor()
  await page.getByRole("tab", { name: "Statement" }).click()
  for (const name of [/Grant/, /Charge/, /Refund/]) await page.getByRole("row", { name }).first().waitFor()
}

/** Verifies the ledger, and finds the change in the audit log. */
const verify = async (page: Page, job: string): Promise<void> => {
  await openPage(page, "Ledger")
  await page.getByRole("button", { name: "Verify all accounts" }).click()
  await page.getByText(/^Ledger verified: \d+ accounts?, no discrepancies$/).waitFor()
  await openPage(page, "Audit log")
  await page.getByLabel("Object ID").fill(job)
  await page.getByRole("button", { name: "Search" }).click()
  await page.waitForURL(/subject=/)
  await page.getByRole("row", { name: /generations\.fail/ }).getByRole("button", { name: /^Show/ }).click()
  await page.getByRole("dialog").getByText(job).waitFor()
  await page.keyboard.press("Escape")
}

const JobJson = Schema.fromJsonString(Schema.Struct({ id: Schema.String }))

const createJob = async ({ withToken }: Stand, key: string): Promise<string> => {
  const created = await withToken(key).post("/v1/generations", {
    plan: "credits",
    model: drills.endless,
    params: { prompt: "An endless river" }
  })
  return Schema.decodeSync(JobJson)(await created.text()).id
}
