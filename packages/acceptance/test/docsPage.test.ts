/** `/docs` in a real browser. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Browser from "./browser.ts"

const host = LocalHost.layer({
  models: FileGenerator.models({}),
  generator: FileGenerator.layer({}),
  http: { docs: true, adminToken: Redacted.make("token-of-the-operator") }
})

/** Collects errors, violations of the policy and requests to other origins. */
const watch = (page: Page, baseUrl: string) => {
  const complaints: Array<string> = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== baseUrl && protocol !== "data:" && protocol !== "blob:") complaints.push(request.url())
  })
  return complaints
}

/** Waits until the page shows a text. */
const shows = (page: Page, text: string) =>
  vi.waitFor(async () => assert.include(await page.locator("body").innerText(), text), {
    timeout: 60_000,
    interval: 200
  })

/** Ids of accessibility rules that the page violates, in our own markup and in that of Scalar. */
const audit = async (page: Page) => {
  const debuggerOf = await page.context().newCDPSession(page)
  // The debugger can add a script that the policy of the page would not allow.
  const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  await debuggerOf.send("Runtime.evaluate", { expression: source })
  const idsOf = async (context: string) => {
    const expression = `axe.run(${context}).then(({ violations }) => violations.map(({ id }) => id))`
    const { result } = await debuggerOf.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true
    })
    return result.value as ReadonlyArray<string>
  }
  return { own: await idsOf("{ exclude: ['#reference'] }"), all: await idsOf("document") }
}

/** Rules that Scalar 1.72.1 violates: two buttons without a name, and two regions with the same one. */
const ofScalar = new Set(["button-name", "landmark-unique"])

describe("/docs", { timeout: 600_000 }, () => {
  it.live("renders all documents under its policy, from its own origin alone", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const baseUrl = yield* Effect.provide(LocalHost.baseUrl, yield* Layer.build(host))
      const launched = yield* Browser.launch(Browser.path)
      yield* Effect.promise(async () => {
        for (const colorScheme of ["light", "dark"] as const) {
          const page = await launched.newPage({ colorScheme, viewport: { width: 1400, height: 900 } })
          const complaints = watch(page, baseUrl)
          await page.goto(`${baseUrl}/docs`)
          await shows(page, "--header 'Authorization: Bearer ")
          assert.include(await page.locator("body").getAttribute("class"), `${colorScheme}-mode`)
          const { all, own } = await audit(page)
          assert.deepStrictEqual(own, [])
          assert.deepStrictEqual(all.filter((id) => !ofScalar.has(id)), [])
          for (
            const [slug, operation] of [["operators", "List accounts"], ["console", "/console/v1/summary"]] as const
          ) {
            await page.goto(`${baseUrl}/docs?api=${slug}`)
            await shows(page, operation)
          }
          assert.deepStrictEqual(complaints, [])
          await page.close()
        }
      })
    }))

  it.live("sends a request of the reader to this server", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const baseUrl = yield* Effect.provide(LocalHost.baseUrl, yield* Layer.build(host))
      const launched = yield* Browser.launch(Browser.path)
      yield* Effect.promise(async () => {
        const page = await launched.newPage({ viewport: { width: 1400, height: 900 } })
        const complaints = watch(page, baseUrl)
        await page.goto(`${baseUrl}/docs#v1/tag/health/GET/healthz`)
        await shows(page, "/healthz")
        await page.getByRole("button", { name: /^Test Request.*\/healthz/ }).click()
        const answer = page.waitForResponse(`${baseUrl}/healthz`)
        await page.getByRole("dialog").getByRole("button", { name: /^Send/ }).first().click()
        assert.strictEqual((await answer).status(), 200)
        assert.deepStrictEqual(complaints, [])
      })
    }))

  it.live("is small enough to open, and is loaded once", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const baseUrl = yield* Effect.provide(LocalHost.baseUrl, yield* Layer.build(host))
      const launched = yield* Browser.launch(Browser.path)
      yield* Effect.promise(async () => {
        const page = await launched.newPage()
        const loaded = async () => {
          await page.goto(`${baseUrl}/docs`)
          await shows(page, "Create a job")
          await page.waitForLoadState("networkidle")
          const sizes = "performance.getEntriesByType('resource').map(({ transferSize }) => transferSize)"
          return (await page.evaluate<Array<number>>(sizes)).reduce((sum, size) => sum + size, 0)
        }
        assert.isAtMost(await loaded(), 1_200_000)
        assert.isAtMost(await loaded(), 10_000)
      })
    }))
})
