/** `/docs` in a real browser. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Browser from "./browser.ts"

describe("/docs", { timeout: 600_000 }, () => {
  it.live("renders under its Content-Security-Policy, and shows requests with a bearer key", (context) =>
    Effect.gen(function*() {
      if (Browser.path === undefined) return yield* Browser.missing(context)
      const host = yield* Layer.build(
        LocalHost.layer({ models: FileGenerator.models({}), generator: FileGenerator.layer({}), http: { docs: true } })
      )
      const baseUrl = yield* Effect.provide(LocalHost.baseUrl, host)
      const launched = yield* Browser.launch(Browser.path)
      const seen = yield* Effect.promise(async () => {
        const page = await launched.newPage()
        const violations: Array<string> = []
        page.on("console", (message) => {
          if (message.text().includes("Content Security Policy")) violations.push(message.text())
        })
        page.on("pageerror", (error) => violations.push(error.message))
        await page.goto(`${baseUrl}/docs`)
        const text = await vi.waitFor(async () => {
          const shown = await page.locator("body").innerText()
          assert.include(shown, "--header 'Authorization: ")
          return shown
        }, { timeout: 60_000, interval: 500 })
        return { path: new URL(page.url()).pathname, violations, isBasic: text.includes("Authorization: Basic") }
      })
      assert.deepStrictEqual(seen, { path: "/docs", violations: [], isBasic: false })
    }))
})
