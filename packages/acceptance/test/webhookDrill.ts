/** Script of the webhook drill's hosts, `webhookDrillHost.process.ts`. */
import { join } from "node:path"
import type * as Program from "../src/Program.ts"

/** Starts a host on the database. */
export const script = (databaseUrl: string): Program.Script => ({
  file: join(import.meta.dirname, "webhookDrillHost.process.ts"),
  args: [databaseUrl]
})
