/** Webhooks of hosts that are killed: every published event arrives unchanged, and at most five times. */
import { assert, it } from "@effect/vitest"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect } from "effect"
import * as WebhookDrill from "../src/WebhookDrill.ts"
import { script } from "./webhookDrill.ts"

const events = 10_000

it.live(
  "20 kills among 10,000 events for 20 endpoints lose none, and none is sent more than five times",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const { arrivals, arrivalsMost, reasons, ...result } = yield* WebhookDrill.run(databaseUrl, {
        events,
        endpoints: 20,
        hosts: 2,
        kills: 20,
        seed: 4,
        script
      })
      assert.deepStrictEqual(result, {
        published: events,
        lost: 0,
        phantoms: 0,
        changed: 0,
        statuses: { delivered: events },
        unlogged: 0
      })
      // Kills interrupt sends whose outcome is unknown, so some are repeated: at most four times by the schedule, and
      // once more.
      assert.isAbove(arrivals, events, JSON.stringify(reasons))
      assert.isAtMost(arrivalsMost, 5)
    }),
  // Over a minute of processor time, of which a busy machine provides a tenth.
  { timeout: 1_200_000 }
)
