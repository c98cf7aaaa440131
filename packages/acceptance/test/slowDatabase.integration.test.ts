/** A database that responds slowly, and one that stops responding without closing connections. */
import { assert, it } from "@effect/vitest"
import { TcpProxy, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"

/** A job takes longer than its lease. */
const model = Drill.model({ id: "drill", delay: "4 seconds" })

it.live(
  "jobs keep their leases on a slow database, are taken over from a host whose database hangs, and end once",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const site = yield* Site.make({ databaseUrl, models: [model] })
      const proxy = yield* TcpProxy.make(databaseUrl)
      const settings = {
        ...site.environment,
        KINORA_JOB_LEASE_SECONDS: "3",
        // A create request takes a dozen statements, whose locks others wait for.
        KINORA_DATABASE_STATEMENT_SECONDS: "30",
        KINORA_DATABASE_UNIT_SECONDS: "60",
        KINORA_REQUEST_SECONDS: "60"
      }
      const server = yield* Program.startServer({ ...settings, KINORA_DATABASE_URL: proxy.url })
      const account = yield* Books.use(site, Books.openAccount({ credits: 100 }))
      const client = Client.make(server.baseUrl, account.key)
      const { sql } = yield* DatabaseLocks.connect(databaseUrl)
      /** The key of the result of the job with this prompt, whose last part but one is the epoch. */
      const keyOf = (prompt: string) =>
        Effect.map(
          sql(`SELECT output -> 'content' ->> 'key' AS key FROM generation_job WHERE prompt = '${prompt}'`),
          ([row]) => String(Object.values(row ?? {})[0])
        )
      const create = (prompt: string) => client.createJob({ model: model.id, prompt })

      // A statement takes 0.4 seconds.
      yield* proxy.delay(200)
      assert.strictEqual((yield* client.awaitEnd((yield* create("slow")).id)).status, "completed")
      assert.match(yield* keyOf("slow"), /\/1\/content$/)
      yield* proxy.delay(0)

      const { id } = yield* create("hanging")
      yield* Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" })
      yield* proxy.hang
      const ready = yield* Client.send(`${server.baseUrl}/readyz`)
      assert.strictEqual(ready.status, 503)
      assert.include(new TextDecoder().decode(ready.bytes), `"not_ready":["database"]`)
      const other = yield* Program.startServer(settings)
      const ended = yield* Client.make(other.baseUrl, account.key).awaitEnd(id)
      assert.strictEqual(ended.status, "completed")
      assert.match(yield* keyOf("hanging"), /\/2\/content$/)

      yield* proxy.resume
      assert.strictEqual((yield* client.get(id)).status, "completed")
      assert.strictEqual((yield* Client.send(`${server.baseUrl}/readyz`)).status, 200)
      assert.strictEqual((yield* server.stop).code, 0)
      assert.strictEqual((yield* other.stop).code, 0)
      assert.match(yield* keyOf("hanging"), /\/2\/content$/)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], 2])
      assert.lengthOf((yield* Site.files(site)).filter((name) => name.endsWith("content")), 2)
    }),
  { timeout: 300_000 }
)
