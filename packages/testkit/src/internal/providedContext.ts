/** The values that the global setup provides to suites. */
import type { ProvidedContext } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the server's maintenance database. */
    readonly postgresUrl: string
    /** File with a dump of an empty PGlite. Loading it is five times as fast as initialising one. */
    readonly pgliteDump: string
    /** The same for the data directory of a host. Contains the tables of hosts if a global setup has migrated it. */
    readonly hostPgliteDump: string
  }
}

export type { ProvidedContext }
