/** The webhook drill with hosts of `webhookDrillHost.process.ts`. */
import { join } from "node:path"
import type * as Program from "../src/Program.ts"

/** A host on the database. */
export const script = (databaseUrl: string): Program.Script => ({
  file: join(import.meta.dirname, "webhookDrillHost.process.ts"),
  args: [databaseUrl]
})
