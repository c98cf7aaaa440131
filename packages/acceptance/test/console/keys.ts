/** The page of API keys, as a person uses it. */
import type { Page } from "playwright-core"

/** Creates a key, and returns it. The dialog that shows it closes only by its button. */
export const create = async (page: Page, name: string): Promise<string> => {
  await page.getByRole("button", { name: "Create key" }).click()
  const form = page.getByRole("dialog", { name: "Create an API key" })
  await form.getByLabel("Name").fill(name)
  await form.getByRole("button", { name: "Create key" }).click()
  return await readSecret(page)
}

/** Revokes a key. */
export const revoke = async (page: Page, name: string): Promise<void> => {
  await page.getByRole("button", { name: `Revoke ${name}` }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click()
  await page.getByRole("row", { name }).getByText("Revoked", { exact: true }).waitFor()
}

/** Reads the secret of a dialog that shows it once, and closes the dialog. */
export const readSecret = async (page: Page): Promise<string> => {
  const saved = page.getByRole("button", { name: "I have saved it" })
  await saved.waitFor()
  await page.keyboard.press("Escape")
  const secret = await page.getByRole("dialog").locator("code").first().innerText()
  await saved.click()
  await saved.waitFor({ state: "detached" })
  return secret
}
