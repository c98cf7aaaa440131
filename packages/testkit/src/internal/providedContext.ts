/** What the global set-up hands to the suites. */
import type { ProvidedContext } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the server's maintenance database. */
    readonly postgresUrl: string
    /** File with a dump of an empty PGlite, which starts five times sooner than initialising one. */
    readonly pgliteDump: string
  }
}

export type { ProvidedContext }
