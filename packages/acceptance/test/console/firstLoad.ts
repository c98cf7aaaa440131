/** Scripts that a browser loads before it shows a page, and the main job by keyboard alone. */
import { assert } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import type { Tab } from "../../src/console/Tab.ts"
import * as CommonStates from "./commonStates.ts"
import * as Playground from "./playground.ts"
import * as SignIn from "./signIn.ts"
import type { Define, Stand } from "./Stand.ts"

/** Maximum size of the scripts of the first page with gzip. */
const bytesMax = 180_000

/** Declares the tests. */
export const declare = (test: Define): void => {
  test("loads at most 180 kB of compressed scripts for the first page, and no script of another page", async (stand) => {
    const account = await stand.openAccount()
    for (const path of ["/", "/playground"]) {
      const tab = await stand.open()
      await SignIn.byLink(tab, await stand.accountLink(account.id))
      const scripts = await Promise.all((await loadScripts(tab, `${stand.baseUrl}/console${path}`)).map(sizeOf(stand)))
      const bytes = scripts.reduce((sum, script) => sum + script.bytes, 0)
      assert.isAbove(bytes, 50_000)
      assert.isAtMost(bytes, bytesMax, `${path}: ${scripts.map(({ name }) => name).join(", ")}`)
      const pageScripts = scripts.filter(({ name }) => /^[A-Z]/.test(name)).map(({ name }) => name.replace(/-.*/, ""))
      assert.include(pageScripts, path === "/" ? "Overview" : "Playground")
      for (const other of ["Jobs", "Usage", "Keys", "Webhooks", "Settings", "Accounts", "Audit", "Ledger"]) {
        assert.notInclude(pageScripts, other, path)
      }
    }
  })

  test("works with a keyboard alone: sign in, generate an image and open it", async (stand) => {
    const { key } = await stand.openAccount()
    const tab = await stand.open()
    const { page } = tab
    await page.goto(`${stand.baseUrl}/console/`)
    await focus(page, page.getByLabel("API key"))
    await page.keyboard.type(key)
    await page.keyboard.press("Enter")
    await SignIn.awaitFrame(page)
    await focus(page, page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Playground" }))
    await page.keyboard.press("Enter")
    await focus(page, page.getByLabel("Model", { exact: true }))
    await page.keyboard.type("Kinora Draft")
    await focus(page, page.getByLabel("Prompt"))
    await page.keyboard.type("A lake at dawn")
    await focus(page, page.getByRole("button", { name: "Generate" }))
    await page.keyboard.press("Enter")
    await Playground.stage(page).getByRole("img", { name: "A lake at dawn" }).waitFor()
    await focus(page, Playground.stage(page).getByRole("link", { name: "Download" }))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** More than the controls of any page. */
const tabsMax = 80

/** Presses Tab until the control is focused. Its focus has to be visible. */
const focus = async (page: Page, control: Locator): Promise<void> => {
  await control.waitFor()
  for (let presses = 0; presses < tabsMax; presses++) {
    if (await control.evaluate(hasVisibleFocus)) return
    await page.keyboard.press("Tab")
  }
  assert.fail(`The keyboard does not reach ${String(control)}`)
}

/** Runs in the page. */
const hasVisibleFocus = (element: { readonly matches: (selector: string) => boolean }): boolean =>
  element.matches(":focus-visible")

/** Opens a page, and returns the paths of the scripts that the browser requests until the page shows its data. */
const loadScripts = async ({ page }: Tab, url: string): Promise<ReadonlyArray<string>> => {
  const paths: Array<string> = []
  page.on("request", (request) => {
    if (request.resourceType() === "script") paths.push(new URL(request.url()).pathname)
  })
  await page.goto(url)
  await CommonStates.awaitReady(page)
  return paths
}

/** Asks for the size with gzip, which browsers that accept brotli do not use. */
const sizeOf = ({ send }: Stand) => async (path: string) => {
  const { headers } = await send(path, { method: "HEAD", headers: { "accept-encoding": "gzip" } })
  assert.strictEqual(headers.get("content-encoding"), "gzip", path)
  return { name: path.split("/").at(-1) ?? "", bytes: Number(headers.get("content-length")) }
}
