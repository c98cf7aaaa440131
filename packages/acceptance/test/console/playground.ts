/** The playground, as a person uses it. */
import { assert } from "@effect/vitest"
import type { Download, Page } from "playwright-core"

/** A request of the form. */
export interface Request {
  /** Name of the model. */
  readonly model: string
  readonly prompt: string
  /** Labels of chosen parameters. */
  readonly choose?: ReadonlyArray<string>
  readonly seconds?: number
}

/** The section with the result. */
export const stage = (page: Page) => page.getByRole("region", { name: "Result" })

/** Fills the form. Returns when the price is shown. */
export const fill = async (page: Page, { choose = [], model, prompt, seconds }: Request): Promise<void> => {
  await page.getByLabel("Model", { exact: true }).selectOption({ label: model })
  await page.getByLabel("Prompt").fill(prompt)
  for (const label of choose) await page.getByRole("radio", { name: label, exact: true }).check()
  if (seconds !== undefined) await page.getByLabel("Duration", { exact: true }).fill(String(seconds))
  await page.getByText(/left (today|after)$/).waitFor()
}

/** Sends the form, watches the job until it is completed, and returns its id. */
export const generate = async (page: Page): Promise<string> => {
  const stream = page.waitForResponse((response) => /^\/v1\/generations\/[^/]+\/events$/.test(pathOf(response.url())))
  await page.getByRole("button", { name: "Generate" }).click()
  await page.waitForURL(/[?&]job=gen_/)
  const id = new URL(page.url()).searchParams.get("job") ?? ""
  assert.strictEqual(pathOf((await stream).url()), `/v1/generations/${id}/events`)
  await stage(page).getByText("Completed", { exact: true }).waitFor()
  return id
}

/** Downloads the result by its link. */
export const download = async (page: Page): Promise<Download> => {
  const [started] = await Promise.all([
    page.waitForEvent("download"),
    stage(page).getByRole("link", { name: "Download" }).click()
  ])
  return started
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pathOf = (url: string): string => new URL(url).pathname
