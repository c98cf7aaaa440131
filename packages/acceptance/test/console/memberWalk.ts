/** The walk of a member through the console, from the sign-in to the usage. */
import { assert, vi } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import type { Account } from "../../src/conformance/Stage.ts"
import { patience, type Tab } from "../../src/console/Tab.ts"
import type { Inbox } from "../../src/Receiver.ts"
import * as Keys from "./keys.ts"
import * as Playground from "./playground.ts"
import * as SignIn from "./signIn.ts"
import type { Stand } from "./Stand.ts"
import * as Webhooks from "./webhooks.ts"

/** Opens a page by its link in the sidebar. */
export const openPage = async (page: Page, name: string): Promise<void> => {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click()
  await page.getByRole("heading", { level: 1, name }).waitFor()
}

/** Ends the session. */
export const signOut = async ({ page }: Tab): Promise<void> => {
  await page.getByRole("button", { name: "Sign out" }).click()
  await page.getByRole("heading", { name: "Sign in to Kinora" }).waitFor()
}

/** The whole walk. */
export const walk = async (stand: Stand, account: Account): Promise<void> => {
  await using receiver = await stand.receive()
  const inbox = receiver.inbox()
  const tab = await stand.open()
  await SignIn.byLink(tab, await stand.accountLink(account.id))
  await tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
  const image = await generate(tab)
  await readJob(tab, image)
  await useKey(tab, stand)
  await useEndpoint(tab, inbox)
  await breakReceiver(tab, inbox, () => readReports(tab))
  await signOut(tab)
  assert.deepStrictEqual(tab.takeRefusals(), [])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Generates an image and a video, follows them live, and downloads both. Returns the id of the image. */
const generate = async ({ page }: Tab): Promise<string> => {
  await openPage(page, "Playground")
  await Playground.fill(page, { model: "Kinora Draft (procedural)", prompt: "A lake at dawn", choose: ["3:2"] })
  const image = await Playground.generate(page)
  await Playground.stage(page).getByRole("img", { name: "A lake at dawn" }).waitFor()
  const png = await readFile(await (await Playground.download(page)).path())
  assert.strictEqual(png.subarray(1, 4).toString("latin1"), "PNG")

  const motion = { model: "Kinora Motion (procedural)", prompt: "Waves at noon", choose: ["480p"], seconds: 2 }
  await Playground.fill(page, motion)
  const isGenerating = Playground.stage(page).getByText("Generating", { exact: true }).first().waitFor()
  const video = await Playground.generate(page)
  await isGenerating
  const frames = Playground.stage(page).locator("video")
  await vi.waitFor(async () => assert.isAbove(await frames.evaluate(widthOf), 0), { timeout: patience })
  const mp4 = await readFile(await (await Playground.download(page)).path())
  assert.include(mp4.subarray(4, 12).toString("latin1"), "ftyp")
  assert.notStrictEqual(image, video)
  return image
}

/** Finds a job by its filters, and reads its timeline and charge. */
const readJob = async ({ page }: Tab, id: string): Promise<void> => {
  await openPage(page, "Jobs")
  await page.getByLabel("Search prompts").fill("lake")
  await page.keyboard.press("Enter")
  await page.waitForURL(/q=lake/)
  await page.getByRole("link", { name: "A lake at dawn" }).first().click()
  await page.waitForURL(new RegExp(`/jobs/${id}\\?q=lake`))
  const panel = page.getByRole("dialog", { name: "A lake at dawn" })
  await panel.getByText("1 Studio image", { exact: true }).first().waitFor()
  await panel.getByRole("tab", { name: "Timeline" }).click()
  await panel.getByText("Charged", { exact: true }).waitFor()
  await page.keyboard.press("Escape")
  await page.waitForURL(/\/jobs\?q=lake$/)
}

/** Creates a key, uses it, and revokes it until it is rejected. */
const useKey = async ({ page }: Tab, { withToken }: Stand): Promise<void> => {
  await openPage(page, "API keys")
  const key = await Keys.create(page, "Night job")
  const ask = async () => (await withToken(key).send("/v1/account")).status
  assert.strictEqual(await ask(), 200)
  await Keys.revoke(page, "Night job")
  await vi.waitFor(async () => assert.strictEqual(await ask(), 401), { timeout: patience, interval: 200 })
}

/** Adds an endpoint, sends a test event, rotates its secret, and sends another, which both secrets sign. */
const useEndpoint = async ({ page }: Tab, inbox: Inbox): Promise<void> => {
  await openPage(page, "Webhooks")
  const secret = await Webhooks.addEndpoint(page, inbox.url)
  inbox.trust([secret])
  await Webhooks.sendTest(page, "The receiver accepted the test event")
  await inbox.until(1)
  await Webhooks.openTab(page, "Settings")
  inbox.trust([secret, await Webhooks.rotate(page)])
  await Webhooks.openTab(page, "Sends")
  await Webhooks.sendTest(page, "The receiver accepted the test event")
  await inbox.until(2)
}

/** Breaks the receiver, reads why sends fail, and sends the failed delivery again once the receiver works. */
const breakReceiver = async ({ page }: Tab, inbox: Inbox, meanwhile: () => Promise<void>): Promise<void> => {
  inbox.answer(() => ({ status: 503, body: "<b>out of order</b>" }))
  await Webhooks.sendTest(page, "The receiver responded with 503.")
  await page.getByRole("row", { name: /webhook.test/ }).first().getByText("HTTP 503", { exact: true }).waitFor()
  inbox.answer(() => "reset")
  await Webhooks.sendTest(page, "No connection to the receiver.")
  // Deliveries that become due while the endpoint is disabled fail. The next attempt is due after 10 seconds.
  await Webhooks.openTab(page, "Settings")
  await Webhooks.toggle(page, "Disable")
  const endpoint = page.url()
  await meanwhile()
  await page.goto(endpoint)
  await Webhooks.openTab(page, "Sends")
  await page.getByText("The endpoint was disabled", { exact: true }).waitFor()
  await Webhooks.openTab(page, "Deliveries")
  await page.getByRole("cell", { name: "Failed", exact: true }).nth(1).waitFor()
  await Webhooks.openTab(page, "Settings")
  await Webhooks.toggle(page, "Enable")
  inbox.answer(() => ({ status: 200 }))
  await Webhooks.openTab(page, "Deliveries")
  const before = inbox.arrivals.length
  await page.getByRole("button", { name: "Resend all failed since…" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Resend", exact: true }).click()
  await inbox.until(before + 2)
  await page.getByRole("cell", { name: "Delivered", exact: true }).nth(3).waitFor()
}

/** Reads the usage and the limits. */
const readReports = async ({ page }: Tab): Promise<void> => {
  await openPage(page, "Usage")
  await page.getByRole("row", { name: /kinora-draft 1 0 0 0$/ }).waitFor()
  await page.getByText("of 200, resets at 00:00 UTC", { exact: true }).waitFor()
  await openPage(page, "Limits")
  await page.getByRole("row", { name: /Studio images/ }).getByText("1 of 200 today").waitFor()
}

/** Width of a video once its frames can be decoded. Runs in the page. */
const widthOf = (video: { readonly videoWidth?: number }): number => video.videoWidth ?? 0
