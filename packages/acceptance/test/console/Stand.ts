/** Tests that share a host with the console and a browser. */
import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect, Exit, Scope } from "effect"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import * as ConsoleHost from "../../src/console/ConsoleHost.ts"
import * as Tab from "../../src/console/Tab.ts"
import * as Chromium from "../browser.ts"
import type { databases } from "../sites.ts"

/** A host and a browser. */
export interface Stand extends ConsoleHost.ConsoleHost {
  /** Opens a tab for the test. A problem in it fails the test. */
  readonly open: () => Promise<Tab.Tab>
  /** Opens a tab for all tests of the host. Loading a page in it takes half the time of loading it in a new tab. */
  readonly openKept: () => Promise<Tab.Tab>
}

/** Declares a test. */
export type Define = (title: string, run: (stand: Stand) => Promise<void>) => void

/** Declares tests that run one after the other on one host. */
export const onConsole = (name: string, database: Database, declare: (test: Define) => void): void => {
  describe(name, { timeout: 600_000 }, () => {
    const shared = shareHost(database)
    declare((title, run) =>
      it(title, async (context) => {
        if (Chromium.path === undefined) return await Effect.runPromise(Chromium.missing(context))
        const { browser, free, host, kept } = shared()
        const own: Array<Tab.Tab> = []
        const openIn = (tabs: Array<Tab.Tab>): Stand["open"] => async () => {
          const tab = free.pop() ?? await Tab.open(browser)
          tabs.push(tab)
          return tab
        }
        try {
          await run({ ...host, open: openIn(own), openKept: openIn(kept) })
          assert.deepStrictEqual([...own, ...kept].flatMap(({ takeProblems }) => takeProblems()), [])
        } catch (error) {
          await Promise.all([...own, ...kept].map(({ page }, n) => picture(page, `${name} ${title} ${n}`)))
          throw error
        } finally {
          await Promise.all(own.map(({ reset }) => reset()))
          free.push(...own)
        }
      })
    )
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Database = typeof databases[number]

interface Shared {
  readonly host: ConsoleHost.ConsoleHost
  readonly browser: Browser
  /** Tabs that all tests share. */
  readonly kept: Array<Tab.Tab>
  /** Tabs of earlier tests. A new one costs a second of processor time. */
  readonly free: Array<Tab.Tab>
}

const shareHost = (database: Database): () => Shared => {
  let shared: Shared | undefined
  const scope = Scope.makeUnsafe()
  beforeAll(async () => {
    if (Chromium.path !== undefined) {
      shared = await Effect.runPromise(Scope.provide(start(database, Chromium.path), scope))
    }
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => shared ?? assert.fail("The host has not started")
}

const start = (database: Database, path: string) =>
  Effect.gen(function*() {
    const databaseUrl = database === "Postgres" ? yield* TestDatabase.postgresUrl : ""
    const host = yield* ConsoleHost.start({ databaseUrl, pgliteDump: inject("hostPgliteDump") })
    const page = yield* Effect.promise(() => host.send("/console/"))
    if (page.status !== 200) assert.fail(yield* Effect.promise(() => page.text()))
    const shared: Shared = { host, browser: yield* Chromium.launch(path), kept: [], free: [] }
    return shared
  })

/** Saves what a failed test saw. */
const picture = async (page: Tab.Tab["page"], title: string): Promise<void> => {
  const directory = join(import.meta.dirname, "../../../../artifacts/console/failed")
  await mkdir(directory, { recursive: true })
  const path = join(directory, `${title.replaceAll(/\W+/g, "-")}.png`)
  await page.screenshot({ path, fullPage: true }).catch(() => undefined)
}
