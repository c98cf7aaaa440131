/** A host of the webhook drill on the given database. Prints `ready` once it is ready. */
import { Console, Effect } from "effect"
import * as WebhookDrillHost from "../src/WebhookDrillHost.ts"

const [databaseUrl = ""] = process.argv.slice(2)

await Effect.runPromise(WebhookDrillHost.run(databaseUrl, Console.log("ready")))
