/**
 * Servers and workers are killed while jobs end. Every event of every job is delivered under one id. Jobs and
 * deliveries of a killed process are taken over when their lease of 30 seconds expires.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Receiver from "../src/Receiver.ts"
import * as Receivers from "../src/Receivers.ts"
import { makeSite } from "./sites.ts"

const models = [
  Drill.model({ id: "drill-short", delay: "1 second" }),
  Drill.model({ id: "drill-bad", failure: "generation_failed" })
]
const adminToken = "the-operator-of-servers-that-are-killed-again-and-again"
const rounds = 4

it.live(
  "kills of servers and workers lose no event and deliver none under two ids",
  () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const receivers = yield* Receivers.make()
      const receiver = yield* Effect.acquireRelease(
        Effect.promise(() => receivers.start()),
        (receiver) => Effect.promise(() => receiver[Symbol.asyncDispose]())
      )
      const environment = { ...site.environment, ...receivers.environment, KINORA_ADMIN_TOKEN: adminToken }
      const startServer = Program.startServer({ ...environment, KINORA_WORKERS: "0" })
      const startWorker = Program.startWorker({ ...environment, KINORA_WORKERS: "8" })
      let server = yield* startServer
      let worker = yield* startWorker
      const accounts = yield* Books.use(site, Books.openAccounts(4, { credits: 1_000, tier: "business" }))
      const inbox = receiver.inbox((_, n) => ({ status: n % 5 === 4 ? 500 : 200 }))
      inbox.trust(yield* Effect.forEach(accounts, (account) => register(server, account, inbox)), "any")

      const jobs: Array<KnownJob> = []
      for (let round = 0; round < rounds; round++) {
        const seen = inbox.arrivals.length
        const made = yield* Effect.forEach(accounts, (account) => createSome(server, account, round), {
          concurrency: 4
        })
        jobs.push(...made.flat())
        // Jobs are starting and ending and webhooks are being sent, in each round a little later.
        yield* Effect.promise(() => inbox.until(seen + 3 + round * 4))
        if (round % 2 === 0) {
          yield* worker.kill
          worker = yield* startWorker
        } else {
          yield* server.kill
          server = yield* startServer
        }
      }

      const ended = yield* Effect.forEach(jobs, ({ id, key }) => Client.make(server.baseUrl, key).awaitEnd(id), {
        concurrency: Client.longPollsMax
      })
      const wanted = ended.flatMap(({ id, status }) => [`${id} generation.started`, `${id} generation.${status}`])
      const arrivals = yield* Effect.promise(() =>
        inbox.until((arrivals) => new Set(arrivals.map(nameOf)).size >= wanted.length)
      )
      assert.deepStrictEqual([...new Set(arrivals.map(nameOf))].toSorted(), wanted.toSorted())
      const deliveries = Map.groupBy(arrivals, (arrival) => decode(Receiver.jsonOf(arrival)).id)
      // This includes jobs that another worker took over: they have one `generation.started`.
      assert.strictEqual(deliveries.size, wanted.length)
      for (const [id, [first, ...others]] of deliveries) {
        assert.isAtMost(others.length, 4, id)
        for (const { body } of others) assert.deepStrictEqual(body, first?.body)
      }
      const { problems } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual(problems, [])
    }),
  { timeout: 600_000 }
)

interface KnownJob {
  readonly id: string
  readonly key: string
}

const Body = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  data: Schema.Struct({ generation: Schema.Struct({ id: Schema.String }) })
})

const decode = Schema.decodeUnknownSync(Body)

/** The job and the event of a webhook. */
const nameOf = (arrival: Receiver.Arrival): string => {
  const { data, type } = decode(Receiver.jsonOf(arrival))
  return `${data.generation.id} ${type}`
}

const Issued = Schema.fromJsonString(Schema.Struct({ secret: Schema.String }))

/** Registers the inbox as an endpoint of the account and returns the secret. */
const register = Effect.fnUntraced(
  function*({ baseUrl }: Program.Server, { id }: Books.TestAccount, { url }: Receiver.Inbox) {
    const { bytes, status } = yield* Client.send(`${baseUrl}/admin/v1/accounts/${id}/webhook-endpoints`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify({ url })
    })
    assert.strictEqual(status, 201)
    return (yield* Schema.decodeEffect(Issued)(new TextDecoder().decode(bytes))).secret
  }
)

/** Creates eight jobs, of which two fail. */
const createSome = ({ baseUrl }: Program.Server, { key }: Books.TestAccount, round: number) => {
  const client = Client.make(baseUrl, key)
  return Effect.forEach(Array.from({ length: 8 }), (_, n) => {
    const model = n % 4 === 3 ? "drill-bad" : "drill-short"
    return Effect.map(
      client.createJob({ model, prompt: `round ${round}, lake ${n}` }),
      ({ id }): KnownJob => ({ id, key })
    )
  })
}
