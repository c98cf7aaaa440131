/** Every page in every state. */
import { assert } from "@effect/vitest"
import { type ConsolePage, type PageIds, pages } from "../../src/console/ConsolePages.ts"
import { post } from "../../src/console/ConsoleSeed.ts"
import type { Tab } from "../../src/console/Tab.ts"
import { answerData, emptyList } from "./answers.ts"
import * as CommonStates from "./commonStates.ts"
import type { Define, Stand } from "./Stand.ts"
import { states, still } from "./states.ts"
import * as Visitor from "./Visitor.ts"

/** Declares the tests. */
export const declare = (test: Define, visit: Visitor.Visit): void => {
  for (const [title, state] of commonStates) {
    test(title, async (stand) => {
      const visitors = await visit(stand)
      await Visitor.forEach(dataPages, ({ path, viewer }) =>
        inTab(stand, visitors[viewer], (tab) => state(tab, `${stand.baseUrl}/console${path(visitors.ids)}`)))
    })
  }

  test("has an entry in the table of states for every page of the navigation", async (stand) => {
    const visitors = await visit(stand)
    for (const viewer of ["account", "operator"] as const) {
      await inTab(stand, visitors[viewer], async ({ page }) => {
        await page.goto(`${stand.baseUrl}/console/`)
        const links = page.getByRole("navigation", { name: "Main" }).getByRole("link")
        await links.first().waitFor()
        for (const link of await links.all()) assertListed(await link.getAttribute("href"), visitors.ids)
      })
    }
    assert.deepStrictEqual(dataPages.map(({ name }) => name).toSorted(), Object.keys(states).toSorted())
  })

  test("says on every page that there is nothing to show, and what to do", async (stand) => {
    const visitors = await visit(stand)
    const account = await Visitor.signIn(stand, await stand.accountLink(await newAccount(stand)))
    await Visitor.forEach(dataPages, async ({ name, path, viewer }) => {
      const { empty = null, list } = states[name] ?? {}
      if (empty === null) return
      const cookies = list === undefined ? account : visitors[viewer]
      await inTab(stand, cookies, async ({ page }) => {
        if (list !== undefined) await answerData(page, emptyList, list)
        await page.goto(`${stand.baseUrl}/console${path(visitors.ids)}`)
        await page.getByText(empty, { exact: true }).first().waitFor()
      })
    })
  })

  test("shows sessions with an API key what they may see, and says what is missing", async (stand) => {
    const { ids, key } = await visit(stand)
    await Visitor.forEach(dataPages, ({ name, path, viewer }) =>
      inTab(stand, key, async ({ page, takeRefusals }) => {
        await page.goto(`${stand.baseUrl}/console${path(ids)}`)
        const missing = viewer === "operator" ? "This page is for operators" : states[name]?.key
        if (missing !== undefined) return await page.getByText(missing, { exact: true }).first().waitFor()
        await CommonStates.awaitReady(page)
        assert.deepStrictEqual(takeRefusals(), [], name)
        assert.strictEqual(await page.getByRole("alert").count(), 0, name)
      }))
  })

  test("hides changes from viewers and auditors", async (stand) => {
    const visitors = await visit(stand)
    await Visitor.forEach(dataPages, async ({ name, path, viewer }) => {
      const { changes = [] } = states[name] ?? {}
      for (const [cookies, isShown] of [[visitors[viewer], true], [visitors.readers[viewer], false]] as const) {
        await inTab(stand, cookies, async ({ page }) => {
          await page.goto(`${stand.baseUrl}/console${path(visitors.ids)}`)
          await CommonStates.awaitReady(page)
          for (const change of changes) {
            const button = page.getByRole("button", { name: change, exact: true }).first()
            if (isShown) await button.waitFor()
            else assert.strictEqual(await button.count(), 0, `${name}: ${change}`)
          }
        })
      }
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const commonStates = [
  ["shows a placeholder on every page while it loads", CommonStates.loading],
  ["shows the error, its request and a retry on every page if the service fails", CommonStates.failed],
  ["says on every page that too many requests were sent", CommonStates.limited],
  ["says on every page that the browser is offline, and keeps the content", CommonStates.offline],
  ["asks on every page to sign in again if the session has ended, and returns to it", CommonStates.expired]
] as const

type DataPage = ConsolePage & { readonly viewer: "account" | "operator" }

const hasData = (page: ConsolePage): page is DataPage =>
  page.viewer !== "nobody" && !page.isTab && !still.includes(page.name)

/** Pages with data, without their tabs. */
const dataPages = pages.filter(hasData)

const assertListed = (href: string | null, ids: PageIds): void => {
  const path = href?.replace(/^\/console/, "")
  // The reference is not a page of the console.
  if (path === "/docs") return
  assert.isDefined(dataPages.find((page) => page.path(ids) === path), `ConsolePages.ts and states.ts lack ${path}`)
}

const inTab = async ({ open }: Stand, cookies: Visitor.Cookies, run: (tab: Tab) => Promise<void>): Promise<void> => {
  const tab = await open({ cookies })
  await run(tab)
  await tab.page.unrouteAll({ behavior: "ignoreErrors" })
  await tab.close()
}

/** An account without plans, credits and keys. */
const newAccount = async ({ admin }: Stand): Promise<string> =>
  (await post(admin, "/admin/v1/accounts", { email: "new@example.com" })).id
