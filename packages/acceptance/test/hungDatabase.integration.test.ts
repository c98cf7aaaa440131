/** A server with default settings whose database stops responding: on one connection, on all of them, or as a whole. */
import { assert, it } from "@effect/vitest"
import { TcpProxy, TestDatabase } from "@kinora/testkit"
import { Clock, Effect, Fiber, Schedule } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as Starvation from "../src/Starvation.ts"
import * as StopTime from "../src/StopTime.ts"
import { png } from "./conformance/pictures.ts"
import * as FrozenPostgres from "./frozenPostgres.ts"

const model = Drill.model({ id: "drill" })

// Durations count without the time in which this process or the server waited for a core (`Starvation`).

/** Longest time that a request may take. */
const requestMillis = 6_000
/** Time after which the service is normal again although a connection of each kind hangs. */
const singleHangMillis = 10_000
/** Time for which Postgres is suspended. */
const frozenMillis = 30_000
/** Time after which the service is normal again when the database responds again. */
const recoveryMillis = 2_000
/** The grace of jobs and of requests, 30 seconds, and the time until a process that hangs is ended. */
const stopMillis = 40_000

const accountCount = 4

it.live(
  "responds to every request while connections to the database hang, recovers, and stops in time",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const proxy = yield* TcpProxy.make(databaseUrl)
      const drill = yield* makeDrill({ databaseUrl, urlOfServer: proxy.url })

      // One connection of those for units, when a unit begins, and one of those for single statements.
      yield* proxy.hangNextOf("transaction")
      yield* proxy.hangNextOf("statement")
      assert.isTrue((yield* drill.observe(singleHangMillis - recoveryMillis)).has(200))
      assert.strictEqual(yield* proxy.hung, 2)
      yield* drill.recovers

      yield* proxy.hang
      assert.isTrue((yield* drill.observe(12_000)).has(503))
      yield* proxy.resume
      yield* drill.recovers

      yield* proxy.hang
      yield* drill.stops
      yield* proxy.resume
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

it.live(
  "stops in time while a connection for units and one for statements hang",
  () =>
    Effect.gen(function*() {
      const databaseUrl = yield* TestDatabase.postgresUrl
      const proxy = yield* TcpProxy.make(databaseUrl)
      const drill = yield* makeDrill({ databaseUrl, urlOfServer: proxy.url })
      yield* proxy.hangNextOf("transaction")
      yield* proxy.hangNextOf("statement")
      yield* drill.stops
      assert.strictEqual(yield* proxy.hung, 2)
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

it.live(
  "responds to every request while Postgres is suspended, recovers, and stops in time",
  () =>
    Effect.gen(function*() {
      const postgres = yield* FrozenPostgres.make
      const drill = yield* makeDrill({ databaseUrl: postgres.url, urlOfServer: postgres.url })

      yield* postgres.freeze
      const statuses = yield* drill.observe(frozenMillis)
      // A range of a result that was read a moment ago needs no statement.
      statuses.delete(206)
      assert.deepStrictEqual(Array.from(statuses), [503])
      yield* postgres.thaw
      yield* drill.recovers

      yield* postgres.freeze
      yield* drill.stops
      yield* postgres.thaw
      yield* drill.booksAreSound
    }),
  { timeout: 300_000 }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Starts a server, and returns what a drill does with it. `urlOfServer` is the URL under which the server gets the database. */
const makeDrill = Effect.fnUntraced(
  function*({ databaseUrl, urlOfServer }: { readonly databaseUrl: string; readonly urlOfServer: string }) {
    const site = yield* Site.make({ databaseUrl, models: [model] })
    const accounts = yield* Books.use(site, Books.openAccounts(accountCount, { credits: 1000 }))
    const server = yield* Program.startServer({ ...site.environment, KINORA_DATABASE_URL: urlOfServer })
    const clients = accounts.map(({ key }) => Client.make(server.baseUrl, key))

    const ended = yield* Effect.forEach(
      clients,
      (client) => Effect.flatMap(client.createJob({ model: model.id }), ({ id }) => client.awaitEnd(id))
    )
    let sent = 0
    /** Waits for a job, whose duration is not that of the request. */
    const imageOf = (client: Client.Client) =>
      Effect.suspend(() =>
        client.request("/v1/images/generations", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ plan: "credits", model: model.id, prompt: `picture ${sent++}` })
        })
      )
    const requestsOf = (client: Client.Client, n: number) => {
      const job = `/v1/generations/${ended[n]!.id}`
      return [
        Effect.suspend(() => client.create({ model: model.id, prompt: `lake ${sent++}` })),
        client.request("/v1/uploads", { method: "POST", headers: { "content-type": "image/png" }, body: png(8, 8) }),
        client.request(`${job}?wait=1`),
        client.request(`${job}/content`, { headers: { range: "bytes=0-0" } }),
        client.request("/v1/account")
      ]
    }
    const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) => Starvation.timed([server.pid, process.pid], effect)
    const requests = clients.flatMap(requestsOf)
    const roundOf = (requests: ReadonlyArray<Effect.Effect<Client.Answer, Client.NoAnswer>>) =>
      Effect.forEach(requests, timed, { concurrency: "unbounded" })
    const round = roundOf([...requests, ...clients.map(imageOf)])
    const isNormal = Effect.map(roundOf(requests), (answers) => answers.every(({ result }) => result.status < 500))
    const untilNormal = Effect.repeat(isNormal, { until: (normal) => normal })
    // A server that has just started loads code and opens connections, for which a busy machine needs long.
    yield* untilNormal

    return {
      /** Sends rounds for a time, and returns the statuses of the responses. */
      observe: Effect.fnUntraced(function*(duration: number) {
        const statuses = new Set<number>()
        const observeRound = Effect.map(round, (answers) => {
          for (const { millis, result } of answers) {
            assert.isBelow(millis, requestMillis)
            assert.include([200, 201, 206, 429, 503], result.status, new TextDecoder().decode(result.bytes))
            if (result.status === 503) assert.isTrue(result.headers.has("retry-after"))
            statuses.add(result.status)
          }
        })
        const end = (yield* Clock.currentTimeMillis) + duration
        const isOver = Effect.map(Clock.currentTimeMillis, (now) => now >= end)
        yield* Effect.repeat(observeRound, { schedule: Schedule.spaced("500 millis"), until: () => isOver })
        return statuses
      }),
      /**
       * The service is normal within `recoveryMillis`, and the duration of two rounds directly afterwards: Postgres, which
       * needs cores for each round, is as starved at that time.
       */
      recovers: Effect.gen(function*() {
        const recovery = yield* timed(untilNormal)
        const control = yield* timed(Effect.andThen(untilNormal, untilNormal))
        assert.isBelow(recovery.millis, recoveryMillis + control.millis)
      }),
      /** The server ends within `stopMillis`, with requests in progress. */
      stops: Effect.gen(function*() {
        const last = yield* Effect.forkChild(round, { startImmediately: true })
        const { code, waitedMillis } = yield* StopTime.stop(server)
        assert.isBelow(waitedMillis, stopMillis)
        assert.isNotNull(code)
        yield* Fiber.await(last)
      }),
      booksAreSound: Effect.map(
        Books.use(site, Books.verify),
        ({ problems }) => assert.deepStrictEqual(problems, [])
      )
    }
  }
)
