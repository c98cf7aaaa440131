/**
 * Runs the mixed load and verifies the ledger: node --conditions=@kinora/source
 * packages/acceptance/test/mixedLoad.process.ts <url of an empty Postgres> [seconds] [clients]
 */
import { Console, Effect } from "effect"
import * as Books from "../src/Books.ts"
import * as MixedLoad from "../src/MixedLoad.ts"
import * as Site from "../src/Site.ts"

const [databaseUrl = "", seconds = "60", clients = "32"] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const site = yield* Site.make({ databaseUrl, models: MixedLoad.models })
  const result = yield* MixedLoad.run(site, { duration: Number(seconds) * 1_000, clients: Number(clients) })
  const { problems, totals } = yield* Books.use(site, Books.verify)
  yield* Console.log(JSON.stringify({ ...result, problems, totals }, null, 2))
})

await Effect.runPromise(Effect.scoped(program))
