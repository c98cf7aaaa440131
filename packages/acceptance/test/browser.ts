/** A real browser, where there is one. */
import { assert, type TestContext } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { chromium } from "playwright-core"

/** Where a browser that decodes H.264 may be; the one that Playwright would download does not. */
export const path: string | undefined = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name)))
  .find(existsSync)

/** Continuous integration has one (`.ci/chromium`); elsewhere the tests of browsers are the ones that may be left out. */
export const missing = (context: TestContext) =>
  Effect.sync(() =>
    process.env["CI"] === "true"
      ? assert.fail("There is no Chromium; run .ci/chromium")
      : context.skip("NOT TESTED: there is no Chromium; .ci/chromium installs Debian's")
  )

/** Starts the browser at this path; closed with the scope. */
export const launch = (path: string) =>
  Effect.acquireRelease(
    // Without a sandbox, since whoever runs this may be root; the pages are our own.
    Effect.promise(() => chromium.launch({ executablePath: path, args: ["--no-sandbox"] })),
    (launched) => Effect.promise(() => launched.close())
  )
