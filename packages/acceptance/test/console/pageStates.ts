/** Every page in every state. */
import { assert } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import { type ConsolePage, type PageIds, pages } from "../../src/console/ConsolePages.ts"
import { post } from "../../src/console/ConsoleSeed.ts"
import type { Tab } from "../../src/console/Tab.ts"
import * as Accessibility from "./accessibility.ts"
import { answerData, emptyList } from "./answers.ts"
import * as CommonStates from "./commonStates.ts"
import * as SignIn from "./signIn.ts"
import type { Define, Stand } from "./Stand.ts"
import { states, still } from "./states.ts"
import type { Visit } from "./Visitor.ts"

/** Declares the tests of all states, and of the accessibility of all pages. */
export const declare = (test: Define, visit: Visit): void => {
  declareStates(test, visit, (tab, name) => Accessibility.check(tab, name))
  declareAccessibility(test, visit)
  declareContents(test, visit)
}

/** Declares the tests of all states. The markup of a page does not depend on the database, so its accessibility is tested once. */
export const declareStatesOnly = (test: Define, visit: Visit): void => {
  declareStates(test, visit, () => Promise.resolve())
  declareContents(test, visit)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Declares the tests of placeholders, data, errors, and the end of a session. `check` is called on each page with its data. */
const declareStates = (test: Define, visit: Visit, check: (tab: Tab, name: string) => Promise<void>): void => {
  for (const { name, path, viewer } of dataPages) {
    test(`${name} has all states`, async (stand) => {
      const visitors = await visit(stand)
      const tab = visitors[viewer]
      const url = urlOf(stand, path(visitors.ids))
      await CommonStates.restoring(tab, async () => {
        await CommonStates.open(tab, url)
        for (const change of states[name]?.changes ?? []) await buttonOf(tab.page, change).waitFor()
        await check(tab, name)
        await CommonStates.offline(tab)
        await CommonStates.expired(tab, url)
      })
    })
  }
}

const declareAccessibility = (test: Define, visit: Visit): void => {
  test("tabs and other pages are accessible", async (stand) => {
    const visitors = await visit(stand)
    const nobody = await stand.open()
    for (const page of pages) {
      if (hasStates(page)) continue
      const tab = page.viewer === "nobody" ? nobody : visitors[page.viewer]
      await tab.page.goto(urlOf(stand, page.path(visitors.ids)))
      await CommonStates.awaitReady(tab.page)
      await Accessibility.check(tab, page.name)
    }
  })

  test("pages have no transitions for people who prefer reduced motion", async (stand) => {
    const { account } = await visit(stand)
    await account.page.goto(urlOf(stand, "/settings"))
    await CommonStates.awaitReady(account.page)
    assert.strictEqual(await account.evaluate(transitioned), 0)
  })

  test("every page of the navigation has an entry in the table of states", async (stand) => {
    const visitors = await visit(stand)
    for (const viewer of ["account", "operator"] as const) {
      const { page } = visitors[viewer]
      await page.goto(urlOf(stand, "/"))
      const links = page.getByRole("navigation", { name: "Main" }).getByRole("link")
      await links.first().waitFor()
      for (const link of await links.all()) assertListed(await link.getAttribute("href"), visitors.ids)
    }
    assert.deepStrictEqual(dataPages.map(({ name }) => name).toSorted(), Object.keys(states).toSorted())
  })
}

/** Declares the tests of pages with nothing to show, and of sessions with fewer rights. */
const declareContents = (test: Define, visit: Visit): void => {
  test("every page says if there is nothing to show", async (stand) => {
    const visitors = await visit(stand)
    const account = await stand.open()
    await SignIn.byLink(account, await stand.accountLink(await newAccount(stand)))
    for (const { name, path, viewer } of dataPages) {
      const { empty = null, list } = states[name] ?? {}
      if (empty === null) continue
      const { page } = list === undefined ? account : visitors[viewer]
      const stop = list === undefined ? undefined : await answerData(page, emptyList, list)
      await page.goto(urlOf(stand, path(visitors.ids)))
      await page.getByText(empty, { exact: true }).first().waitFor()
      await stop?.()
    }
  })

  test("every page shows a session with an API key what it may see, and says what is missing", async (stand) => {
    const { ids, key: { page, takeRefusals } } = await visit(stand)
    for (const { name, path, viewer } of dataPages) {
      await page.goto(urlOf(stand, path(ids)))
      const missing = viewer === "operator" ? "This page is for operators" : states[name]?.key
      if (missing === undefined) {
        await CommonStates.awaitReady(page)
        assert.deepStrictEqual(takeRefusals(), [], name)
        assert.strictEqual(await page.getByRole("alert").count(), 0, name)
      } else {
        await page.getByText(missing, { exact: true }).first().waitFor()
        takeRefusals()
      }
    }
  })

  test("pages hide changes from viewers and auditors", async (stand) => {
    const { ids, readers } = await visit(stand)
    for (const { name, path, viewer } of dataPages) {
      const { changes = [] } = states[name] ?? {}
      if (changes.length === 0) continue
      const { page } = readers[viewer]
      await page.goto(urlOf(stand, path(ids)))
      await CommonStates.awaitReady(page)
      for (const change of changes) assert.strictEqual(await buttonOf(page, change).count(), 0, `${name}: ${change}`)
    }
  })
}

/** The number of elements with a transition. The tabs of tests prefer reduced motion. */
const transitioned = `Array.from(document.querySelectorAll("*"), (element) => getComputedStyle(element))
  .filter(({ transitionDuration, transitionProperty }) => transitionProperty !== "none" && transitionDuration !== "0s").length`

type PageWithStates = ConsolePage & { readonly viewer: "account" | "operator" }

const hasStates = (page: ConsolePage): page is PageWithStates =>
  page.viewer !== "nobody" && !page.isTab && !still.includes(page.name)

/** Pages with data, without their tabs. */
const dataPages = pages.filter(hasStates)

const urlOf = ({ baseUrl }: Stand, path: string): string => `${baseUrl}/console${path}`

const buttonOf = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true }).first()

const assertListed = (href: string | null, ids: PageIds): void => {
  const path = href?.replace(/^\/console/, "")
  // The reference is not a page of the console.
  if (path === "/docs") return
  assert.isDefined(dataPages.find((page) => page.path(ids) === path), `ConsolePages.ts and states.ts lack ${path}`)
}

/** An account without plans, credits and keys. */
const newAccount = async ({ admin }: Stand): Promise<string> =>
  (await post(admin, "/admin/v1/accounts", { email: "new@example.com" })).id
