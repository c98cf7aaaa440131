/** A real browser, if one is installed. */
import { assert, type TestContext } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { chromium } from "playwright-core"
import * as Chromium from "../src/console/Chromium.ts"

/** Path of the browser. */
export const path = Chromium.path

/** In CI, `.ci/chromium` installs the browser. Elsewhere, browser tests are skipped without one. */
export const missing = (context: TestContext) =>
  Effect.sync(() =>
    process.env["CI"] === "true"
      ? assert.fail("There is no Chromium; run .ci/chromium")
      : context.skip("NOT TESTED: there is no Chromium; .ci/chromium installs Debian's")
  )

/** Starts the browser at this path. Closed with the scope. */
export const launch = (path: string) =>
  Effect.acquireRelease(
    // Without a sandbox, because tests can run as root. The pages are our own.
    Effect.promise(() => chromium.launch({ executablePath: path, args: ["--no-sandbox"] })),
    (launched) => Effect.promise(() => launched.close())
  )

/** A response to a request for a file. */
interface FileAnswer {
  readonly status: number
  readonly contentRange: string
}

/**
 * Opens a page in the browser at this path, from an origin of its own, which embeds only resources that permit it.
 * `answers` are the responses to requests for the file so far.
 */
export const openPage = Effect.fnUntraced(function*(path: string, html: string, file: string) {
  const origin = yield* servePage(html)
  const launched = yield* launch(path)
  return yield* Effect.promise(async () => {
    const page = await launched.newPage()
    const answers: Array<FileAnswer> = []
    page.on("response", (response) => {
      if (response.url() !== file) return
      answers.push({ status: response.status(), contentRange: response.headers()["content-range"] ?? "" })
    })
    await page.goto(origin)
    return { page, answers }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const servePage = (html: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html", "cross-origin-embedder-policy": "require-corp" })
        response.end(html)
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`
  }))
