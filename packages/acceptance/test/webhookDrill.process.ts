/**
 * Runs the webhook drill in any size: node --conditions=@kinora/source packages/acceptance/test/webhookDrill.process.ts
 * <url of an empty Postgres> [events] [kills] [seed]
 */
import { Clock, Console, Effect } from "effect"
import * as WebhookDrill from "../src/WebhookDrill.ts"
import { script } from "./webhookDrill.ts"

const [databaseUrl = "", events = "10000", kills = "20", seed = "1"] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const began = yield* Clock.currentTimeMillis
  const result = yield* WebhookDrill.run(databaseUrl, {
    events: Number(events),
    endpoints: 20,
    hosts: 2,
    kills: Number(kills),
    seed: Number(seed),
    script
  })
  const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
  yield* Console.log(JSON.stringify({ ...result, seconds }, null, 2))
})

await Effect.runPromise(Effect.scoped(program))
