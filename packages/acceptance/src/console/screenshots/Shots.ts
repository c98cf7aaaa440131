/** Takes screenshots of all pages, and measures their first paint. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Browser, Route } from "playwright-core"
import type { ConsoleHost } from "../ConsoleHost.ts"
import { type ConsolePage, pages } from "../ConsolePages.ts"
import * as Tab from "../Tab.ts"
import type { Scene } from "./Scene.ts"
import * as Usage from "./Usage.ts"

/** Options of the screenshots. */
export interface ShotOptions {
  readonly host: ConsoleHost
  readonly browser: Browser
  readonly scene: Scene
  readonly directory: string
  /** Names of pages. Default: all. */
  readonly only: ReadonlyArray<string>
}

/** A theme and size of the pages. Each has a file per page. */
export const looks = [
  { look: "light", theme: "light", viewport: { width: 1440, height: 900 } },
  { look: "dark", theme: "dark", viewport: { width: 1440, height: 900 } },
  { look: "narrow", theme: "light", viewport: Tab.phone }
] as const

/** Time from the navigation to the first content of a page. */
export interface Paint {
  readonly name: string
  readonly millis: number
}

/** Writes a picture per page and look, and a page with all of them. Returns the first paint of each page. */
export const take = async (options: ShotOptions): Promise<ReadonlyArray<Paint>> => {
  await mkdir(options.directory, { recursive: true })
  const chosen = pages.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  const paints: Array<Paint> = []
  for (const { look, theme, viewport } of looks) {
    const tabs = await openTabs(options, theme, viewport)
    for (const page of chosen) {
      const tab = tabs[page.viewer]
      const millis = await takeOne(options, tab, page, look)
      if (look === "light") paints.push({ name: page.name, millis })
    }
    await Promise.all(Object.values(tabs).map(({ close }) => close()))
  }
  await writeFile(join(options.directory, "index.html"), sheet(chosen))
  return paints
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const openTabs = async ({ browser, host, scene }: ShotOptions, theme: Tab.Theme, viewport: Tab.Viewport) => {
  const open = async (link?: string) => {
    const tab = await Tab.open(browser, { theme, viewport })
    await tab.page.route(/\/v1\/(account\/)?usage\?/, Usage.respond)
    await tab.page.route(/webhook-endpoints|generations\/[^/]+$/, (route) => renameReceiver(route, scene.endpointUrl))
    if (link !== undefined) {
      await tab.page.goto(link)
      await tab.page.locator("#navigation").waitFor({ state: "attached" })
    }
    return tab
  }
  return {
    nobody: await open(),
    account: await open(await host.accountLink(scene.account)),
    operator: await open(await host.operatorLink())
  }
}

/** The receiver listens on this machine, which is not where receivers are. */
const renameReceiver = async (route: Route, url: string): Promise<void> => {
  const response = await route.fetch()
  const body = (await response.text()).replaceAll(url, "https://api.example.com/webhooks/kinora")
  await route.fulfill({ response, body })
}

const takeOne = async (
  { directory, host, scene }: ShotOptions,
  { evaluate, page }: Tab.Tab,
  { name, path }: ConsolePage,
  look: string
): Promise<number> => {
  await page.goto(`${host.baseUrl}/console${path(scene)}`)
  await page.locator("h1").first().waitFor({ state: "attached" })
  await page.getByText("Checking…", { exact: true }).waitFor({ state: "detached" })
  await evaluate(dataShown)
  // Some images are of data that arrives after the page.
  for (let times = 0; times < 3; times++) await evaluate(imagesShown)
  await page.screenshot({ path: join(directory, `${name}-${look}.png`) })
  return Number(await evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
}

/** Waits until nothing on the page loads. */
const dataShown = `(async () => {
  while (document.querySelector("[role=status][aria-label=Loading]") !== null) await new Promise(requestAnimationFrame)
})()`

/** Waits for all images and the first frame of all videos. An image that cannot be shown is broken, so it waits no longer. */
const imagesShown = `Promise.all([
  ...Array.from(document.images, (image) => image.loading === "lazy" && !image.complete
    ? new Promise((resolve) => { image.onload = image.onerror = resolve; image.loading = "eager" })
    : image.decode().catch(() => undefined)),
  document.fonts.ready
]).then(() => new Promise((resolve) => requestIdleCallback(resolve))).then(() => true)`

/** A page with all pictures side by side. */
const sheet = (chosen: ReadonlyArray<ConsolePage>): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>The console</title>
<style>
body { font: 14px system-ui; margin: 24px; background: #eee }
section { display: grid; grid-template-columns: 1fr 1fr 200px; gap: 12px; margin-bottom: 32px; align-items: start }
h2 { grid-column: 1 / -1; margin: 0 }
img { width: 100%; border: 1px solid #bbb; background: #fff }
</style>
<h1>The console</h1>
${
    chosen.map(({ name }) =>
      `<section><h2>${name}</h2>${
        looks.map(({ look }) =>
          `<a href="${name}-${look}.png"><img loading="lazy" alt="${name}, ${look}" src="${name}-${look}.png"></a>`
        )
          .join("")
      }</section>`
    ).join("\n")
  }
</html>
`
