/** A real browser, if one is installed. */
import { assert, type TestContext } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { chromium } from "playwright-core"

/** Paths of browsers that decode H.264. The one that Playwright downloads does not. */
export const path: string | undefined = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name)))
  .find(existsSync)

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
