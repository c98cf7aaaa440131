/** The pages of webhooks, as a person uses them. */
import type { Page } from "playwright-core"
import { readSecret } from "./keys.ts"

/** A tab of the page of an endpoint. */
type EndpointTab = "Sends" | "Deliveries" | "Verify" | "Settings"

/** Adds an endpoint, and returns its secret. Its page is open afterwards. */
export const addEndpoint = async (page: Page, url: string): Promise<string> => {
  await page.getByRole("button", { name: "Add endpoint" }).click()
  const form = page.getByRole("dialog", { name: "Add a webhook endpoint" })
  await form.getByLabel("URL").fill(url)
  await form.getByRole("button", { name: "Add endpoint" }).click()
  const secret = await readSecret(page)
  await page.getByRole("heading", { level: 1, name: url }).waitFor()
  return secret
}

/** Opens a tab of the endpoint. */
export const openTab = (page: Page, name: EndpointTab): Promise<void> => page.getByRole("tab", { name }).click()

/** Sends a test event, and waits until its result is shown. */
export const sendTest = async (page: Page, result: string): Promise<void> => {
  await page.getByRole("button", { name: "Send test event" }).click()
  await page.getByText(result, { exact: true }).first().waitFor()
}

/** Rotates the secret with the overlap of the form, and returns the new one. */
export const rotate = async (page: Page): Promise<string> => {
  await page.getByRole("button", { name: "Rotate secret" }).click()
  return await readSecret(page)
}

/** Disables or enables the endpoint. */
export const toggle = async (page: Page, to: "Disable" | "Enable"): Promise<void> => {
  await page.getByRole("button", { name: `${to} endpoint` }).click()
  await page.getByRole("button", { name: `${to === "Disable" ? "Enable" : "Disable"} endpoint` }).waitFor()
}
