/**
 * Measures how soon waiting requests receive the end of a job in another process: node --conditions=@kinora/source
 * packages/acceptance/test/longPoll.process.ts <url of an empty Postgres> [jobs]
 */
import { Console, Effect } from "effect"
import * as Books from "../src/Books.ts"
import * as LongPolls from "../src/LongPolls.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"

const [databaseUrl = "", jobs = "50"] = process.argv.slice(2)
const accountsCount = 10

const program = Effect.gen(function*() {
  const site = yield* Site.make({ databaseUrl, models: [LongPolls.model] })
  const server = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
  yield* Program.startWorker({ ...site.environment, KINORA_WORKERS: "50" })
  const accounts = yield* Books.use(site, Books.openAccounts(accountsCount, { credits: 10_000, tier: "business" }))
  const found = yield* LongPolls.latencies(server.baseUrl, accounts, Math.ceil(Number(jobs) / accountsCount))
  const [median, most, worst] = [0.5, 0.99, 1].map((share) => LongPolls.quantile(found, share))
  yield* Console.log(`${found.length} jobs: median ${median} ms, 99 % within ${most} ms, all within ${worst} ms`)
})

await Effect.runPromise(Effect.scoped(program))
