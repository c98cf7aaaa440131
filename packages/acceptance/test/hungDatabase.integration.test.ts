/** A server with default settings whose database stops responding on one connection, or on all of them. */
import { assert, it } from "@effect/vitest"
import { TcpProxy, TestDatabase } from "@kinora/testkit"
import { Clock, Effect, Fiber, Schedule } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"

const model = Drill.model({ id: "drill" })

/** Longest time that a request may take. */
const requestMillis = 6_000
/** Time after which the service is normal again although a connection hangs. */
const singleHangMillis = 10_000
/** Time after which it is normal again when the database responds again. */
const recoveryMillis = 2_000
/** The grace of jobs and of requests, 30 seconds, and the time until a process that hangs is ended. */
const stopMillis = 40_000

const accountCount = 4

it.live(
  "responds to every request while connections to the database hang, recovers, and stops in time",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const site = yield* Site.make({ databaseUrl, models: [model] })
      const accounts = yield* Books.use(site, Books.openAccounts(accountCount, { credits: 1000 }))
      const proxy = yield* TcpProxy.make(databaseUrl)
      const server = yield* Program.startServer({ ...site.environment, KINORA_DATABASE_URL: proxy.url })
      const clients = accounts.map(({ key }) => Client.make(server.baseUrl, key))

      const timed = (request: Effect.Effect<Client.Answer, Client.NoAnswer>) =>
        Effect.gen(function*() {
          const begin = yield* Clock.currentTimeMillis
          const answer = yield* request
          return { answer, millis: (yield* Clock.currentTimeMillis) - begin }
        })
      let sent = 0
      const requestsOf = (client: Client.Client) => [
        Effect.suspend(() => client.create({ model: model.id, prompt: `lake ${sent++}` })),
        client.request("/v1/account")
      ]
      const round = Effect.forEach(clients.flatMap(requestsOf), timed, { concurrency: "unbounded" })
      /** Sends rounds for a time, and returns the statuses of the responses. */
      const observe = Effect.fnUntraced(function*(millis: number) {
        const statuses = new Set<number>()
        const observeRound = Effect.map(round, (answers) => {
          for (const { answer, millis } of answers) {
            assert.isBelow(millis, requestMillis)
            assert.include([200, 201, 429, 503], answer.status, new TextDecoder().decode(answer.bytes))
            if (answer.status === 503) assert.isTrue(answer.headers.has("retry-after"))
            statuses.add(answer.status)
          }
        })
        const end = (yield* Clock.currentTimeMillis) + millis
        const isOver = Effect.map(Clock.currentTimeMillis, (now) => now >= end)
        yield* Effect.repeat(observeRound, { schedule: Schedule.spaced("500 millis"), until: () => isOver })
        return statuses
      })
      const isNormal = Effect.map(round, (answers) => answers.every(({ answer }) => answer.status < 500))
      assert.isTrue(yield* isNormal)

      yield* proxy.hangNext
      assert.isTrue((yield* observe(singleHangMillis)).has(200))
      assert.isTrue(yield* isNormal)

      yield* proxy.hang
      assert.isTrue((yield* observe(12_000)).has(503))
      yield* proxy.resume
      const recovering = yield* Clock.currentTimeMillis
      yield* Effect.repeat(isNormal, { until: (normal) => normal })
      assert.isBelow((yield* Clock.currentTimeMillis) - recovering, recoveryMillis)

      yield* proxy.hang
      const last = yield* Effect.forkChild(round, { startImmediately: true })
      const begin = yield* Clock.currentTimeMillis
      const ended = yield* server.stop
      assert.isBelow((yield* Clock.currentTimeMillis) - begin, stopMillis)
      assert.isNotNull(ended.code)
      yield* Fiber.await(last)
      yield* proxy.resume
      const { problems } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual(problems, [])
    }),
  { timeout: 300_000 }
)
