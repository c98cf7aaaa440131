/** Every dialog, with the keyboard alone. */
import { assert, vi } from "@effect/vitest"
import { Schema } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { drills } from "../../src/console/ConsoleHost.ts"
import { post, type Seeded } from "../../src/console/ConsoleSeed.ts"
import type { Tab } from "../../src/console/Tab.ts"
import * as Accessibility from "./accessibility.ts"
import * as CommonStates from "./commonStates.ts"
import { type ConsoleDialog, type DialogIds, dialogs } from "./dialogList.ts"
import type { Define, Stand } from "./Stand.ts"
import type { Visit } from "./Visitor.ts"

/** Declares the tests. They change the account of the visitors. */
export const declare = (test: Define, visit: Visit): void => {
  for (const viewer of ["account", "operator"] as const) {
    test(`every dialog of ${viewer} pages is accessible and can be used with the keyboard`, async (stand) => {
      const visitors = await visit(stand)
      const ids: DialogIds = { ...visitors.ids, runningJob: await prepare(stand, visitors.ids) }
      const tab = visitors[viewer]
      for (const dialog of dialogs) {
        if (dialog.viewer === viewer) await useDialog(tab, `${stand.baseUrl}/console${dialog.path(ids)}`, dialog)
      }
      assert.deepStrictEqual(tab.takeRefusals(), [])
    })
  }

  test("every file of the console with a dialog has an entry in the list of dialogs", async () => {
    const sources = join(import.meta.dirname, "../../../console/src")
    const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith(".tsx"))
    const texts = await Promise.all(
      files.map(async (file) => [file, await readFile(join(sources, file), "utf8")] as const)
    )
    const withDialog = texts.flatMap(([file, text]) => opensDialog.test(text) && !shared.has(file) ? [file] : [])
    assert.isNotEmpty(withDialog)
    assert.sameMembers(withDialog, Array.from(new Set(dialogs.map(({ source }) => source))))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An element that is a dialog, or a button that opens one. */
const opensDialog = /<(Dialog|FormDialog|SecretDialog|ConfirmButton|SignInLinkButton)\b/

/** Files that define the elements of other dialogs. */
const shared: ReadonlySet<string> = new Set([
  "components/Dialog.tsx",
  "components/Secret.tsx",
  "pages/operator/Confirm.tsx",
  "pages/operator/SignInLink.tsx"
])

/** Invites a member, starts a job that does not end, and makes a delivery fail. Returns the id of the job. */
const prepare = async (stand: Stand, ids: Seeded): Promise<string> => {
  const account = `/admin/v1/accounts/${ids.account}`
  if ((await read(stand, `${account}/members`)).length === 0) {
    await post(stand.admin, `${account}/members`, { email: "bea@example.com", role: "member" })
  }
  const endpoint = `${account}/webhook-endpoints/${ids.endpoint}`
  const hasFailed = async () => (await read(stand, `${endpoint}/deliveries`)).some(({ status }) => status === "failed")
  if (!await hasFailed()) {
    // No receiver responds, so the event is sent again after 10 seconds. Deliveries that become due while the endpoint is
    // disabled fail.
    await post(stand.admin, `${endpoint}/test`, {})
    await patch(stand, endpoint, { status: "disabled" })
    await vi.waitFor(async () => assert.isTrue(await hasFailed()), { timeout: 60_000, interval: 500 })
    await patch(stand, endpoint, { status: "enabled" })
  }
  const { id } = await post(stand.withToken(ids.key), "/v1/generations", {
    plan: "credits",
    model: drills.endless,
    params: { prompt: "An endless river" }
  })
  return id
}

const List = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Array(Schema.Struct({ status: Schema.optionalKey(Schema.String) })) })
)

const read = async ({ admin }: Stand, path: string) =>
  Schema.decodeSync(List)(await (await admin.send(path)).text()).data

const patch = async ({ admin }: Stand, path: string, json: object): Promise<void> => {
  const { status } = await admin.send(path, { method: "PATCH", json })
  assert.strictEqual(status, 200, path)
}

/** Opens and closes a dialog, and the one that shows the secret that it creates. */
const useDialog = async (tab: Tab, url: string, dialog: ConsoleDialog): Promise<void> => {
  const { page } = tab
  await page.goto(url)
  await CommonStates.awaitReady(page)
  const { isSecret, key, name, secret } = dialog
  const opener = page.getByRole(dialog.opener.role, { name: dialog.opener.name, exact: true }).first()
  const open = async () => {
    await opener.focus()
    await page.keyboard.press(key)
    await named(page, name).waitFor()
  }
  await open()
  await checkOpen(tab, String(name))
  await (isSecret ? confirm(page, named(page, name)) : escape(page, named(page, name)))
  await awaitFocus(page, opener)
  if (secret === undefined) return
  await open()
  await secret.fill(named(page, name))
  await page.keyboard.press("Enter")
  await named(page, secret.name).waitFor()
  await checkOpen(tab, String(secret.name))
  await confirm(page, named(page, secret.name))
}

const named = (page: Page, name: string | RegExp): Locator => page.getByRole("dialog", { name, exact: true })

/** Asserts that the focus stays in the dialog, and that the dialog violates no rule in both themes and on all screens. */
const checkOpen = async (tab: Tab, name: string): Promise<void> => {
  const stops = tab.page.locator("dialog[open]").locator(
    "button:enabled, input:enabled, select, textarea, a[href], summary"
  )
  const count = await stops.filter({ visible: true }).count()
  assert.isAbove(count, 0, name)
  const outside: Array<unknown> = []
  let reached = 0
  for (const key of [...Array.from({ length: count + 2 }, () => "Tab"), "Shift+Tab", "Shift+Tab"]) {
    await tab.page.keyboard.press(key)
    const place = await tab.evaluate(focused)
    if (place === "inside") reached++
    else if (place !== "browser") outside.push(place)
  }
  assert.deepStrictEqual(outside, [], name)
  assert.isAbove(reached, 0, name)
  await Accessibility.checkDialog(tab, name)
}

/** Where the focus is. After the last control of a page, it is in the browser's own controls. */
const focused = `document.activeElement.closest("dialog[open]") !== null ? "inside"
  : document.activeElement === document.body ? "browser" : document.activeElement.outerHTML`

const escape = async (page: Page, dialog: Locator): Promise<void> => {
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "detached" })
}

/** Closes a dialog that shows a secret. Escape does not, however often it is pressed. */
const confirm = async (page: Page, dialog: Locator): Promise<void> => {
  for (const key of ["Escape", "Escape", "Escape"]) await page.keyboard.press(key)
  await dialog.getByRole("button", { name: "I have saved it" }).focus()
  await page.keyboard.press("Enter")
  await dialog.waitFor({ state: "detached" })
}

const awaitFocus = (page: Page, opener: Locator): Promise<void> =>
  vi.waitFor(async () => assert.strictEqual(await opener.and(page.locator(":focus")).count(), 1), {
    timeout: 10_000,
    interval: 50
  })
