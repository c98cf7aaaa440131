/**
 * A worker that is killed with SIGKILL. Another one takes over its jobs after its lease of 8 seconds has expired, and at
 * most 4 seconds later. In a file of its own, because it mostly waits.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"
import { stopSound } from "./stopSound.ts"

const price = 3
/** Runs longer than it takes until another worker takes over. */
const model = Drill.model({ id: "drill-long", credits: price, delay: "30 seconds" })

it.live(
  "after a kill of one of two workers, the other continues its jobs from their checkpoints",
  () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", [model])
      const server = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
      const { key } = yield* Books.use(site, Books.openAccount({ credits: 100, tier: "business" }))
      // One account has all the jobs.
      const four = { ...site.environment, KINORA_WORKERS: "4", KINORA_WORKER_RESERVED: "0" }
      const [victim, heir] = yield* Effect.all([Program.startWorker(four), Program.startWorker(four)], {
        concurrency: 2
      })
      const client = Client.make(server.baseUrl, key)
      const ids = yield* Effect.forEach(
        Array.from({ length: 8 }),
        (_, n) => Effect.map(client.createJob({ model: model.id, prompt: `lake ${n}` }), ({ id }) => id)
      )
      // Each worker runs four of them.
      const started = yield* Effect.forEach(
        ids,
        (id) => Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" })
      )
      yield* victim.kill
      const ended = yield* Effect.forEach(ids, (id) => client.awaitEnd(id), { concurrency: "unbounded" })
      for (const [n, { started_at, status }] of ended.entries()) {
        assert.deepStrictEqual([status, started_at], ["completed", started[n]?.started_at])
      }
      // Four of the jobs were not interrupted. One that started again from the beginning would need at least 6 seconds
      // more than they, for the rest of the lease.
      const durations = ended.map(({ finished_at, started_at }) =>
        Date.parse(finished_at ?? "") - Date.parse(started_at ?? "")
      ).toSorted((a, b) => a - b)
      assert.isBelow(durations.at(-1) ?? Number.NaN, (durations[3] ?? Number.NaN) + 6_000, durations.join())
      const { stderr } = yield* stopSound(heir)
      assert.strictEqual(stderr.match(/The worker of a job was lost/g)?.length, 4)
      yield* stopSound(server)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], ids.length * price])
    }),
  900_000
)
