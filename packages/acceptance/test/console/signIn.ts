/** Signing in to the console. */
import type { Tab } from "../../src/console/Tab.ts"

/** Signs in with a link. Returns when the page has its navigation. */
export const byLink = async ({ page }: Tab, link: string): Promise<void> => {
  await page.goto(link)
  await awaitFrame(page)
}

/** Signs in with an API key, on the page at this URL. */
export const byKey = async ({ page }: Tab, url: string, key: string): Promise<void> => {
  await page.goto(url)
  await page.getByLabel("API key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
  await awaitFrame(page)
}

/** Waits for the frame of a page of a session. */
export const awaitFrame = (page: Tab["page"]): Promise<void> =>
  page.locator("#navigation").waitFor({ state: "attached" })
