/** Waiting requests: that they receive the end of a job, how many a key can have, and their memory. */
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Places } from "@kinora/rate-limit"
import { Clock, Duration, Effect, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Program from "../src/Program.ts"
import * as RawHttp from "../src/RawHttp.ts"
import type { Site } from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"
import { makeSite } from "./sites.ts"

const quick = Drill.model({ id: "drill-quick" })
const models = [quick]

describe("a request that waits", { timeout: 600_000 }, () => {
  it.live("returns when the job ends in another process, also if its server does not look by itself", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const host = yield* Layer.build(LocalHost.layer({
        site,
        models: [{ ...quick, driver: { name: "local" } }],
        generator: FileGenerator.layer({}),
        workers: 0
      })).pipe(Effect.provideService(Clock.Clock, clockWithLongSleeps))
      const account = yield* Books.use(site, Books.openAccount({ credits: 10 }))
      const client = Client.make(yield* Effect.provide(LocalHost.baseUrl, host), account.key)
      const ids = yield* Effect.forEach(
        ["one", "two", "three"],
        (prompt) => Effect.map(client.createJob({ model: quick.id, prompt }), ({ id }) => id)
      )
      const { sql } = yield* DatabaseLocks.connect(site.databaseUrl)
      yield* Effect.repeat(
        sql("SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"),
        {
          until: ({ length }) => length > 0
        }
      )

      const held = yield* Effect.provide(makeHeld([account.key]), yield* Layer.build(Books.layer(site)))
      const polls = yield* Effect.forEach(ids, (id) => Effect.forkChild(client.get(id, 60), { startImmediately: true }))
      yield* held(ids.length)
      yield* Program.startWorker({ ...site.environment, KINORA_WORKERS: "1" })
      for (const job of yield* Fiber.joinAll(polls)) assert.strictEqual(job.status, "completed")
    }))

  it.live("is one of 20 per key: a further one returns at once, and a disconnected one frees its place", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const server = yield* startServer(site)
      const account = yield* Books.use(site, Books.openAccount({ credits: 10, keys: 2 }))
      const client = Client.make(server.baseUrl, account.key)
      const { id } = yield* client.createJob({ model: quick.id })
      const held = yield* Effect.provide(makeHeld([account.key]), yield* Layer.build(Books.layer(site)))

      const polls = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.forkChild(client.get(id, 60), { startImmediately: true })
      )
      yield* held(20)
      // The others began to wait earlier, so one that waited as well would return after them.
      assert.strictEqual((yield* client.get(id, 60)).status, "queued")
      assertWaiting(polls)
      // Places belong to the key, not to the account.
      const other = yield* Effect.forkChild(Client.make(server.baseUrl, account.keys[1] ?? "").get(id, 60), {
        startImmediately: true
      })

      yield* Effect.forEach(polls.splice(0, 5), Fiber.interrupt, { discard: true })
      yield* held(15)
      // Before the end of its wait, when every request frees its place.
      assertWaiting(polls)
      const late = yield* Effect.forkChild(client.get(id, 60), { startImmediately: true })
      yield* held(16)

      yield* client.cancel(id)
      for (const job of yield* Fiber.joinAll([...polls, late, other])) assert.strictEqual(job.status, "cancelled")
      yield* held(0)
    }))

  it.live("is one of 2,000 that use less than 100 MiB of a server together and all receive the end", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const server = yield* Program.startMeasuredServer({
        ...site.environment,
        KINORA_WORKERS: "0",
        // The requests arrive at the same time.
        KINORA_MAX_REQUESTS: "2000",
        KINORA_REQUEST_SECONDS: "60"
      })
      const accounts = yield* Books.use(site, Books.openAccounts(10, { credits: 10, keys: 10 }))
      const jobs = yield* Effect.forEach(accounts, (account) =>
        Effect.map(
          Client.make(server.baseUrl, account.key).createJob({ model: quick.id }),
          ({ id }) => ({ id, keys: account.keys })
        ))
      const keys = accounts.flatMap(({ keys }) => keys)
      const held = yield* Effect.provide(makeHeld(keys), yield* Layer.build(Books.layer(site)))
      const requests = jobs.flatMap(({ id, keys }) =>
        keys.flatMap((key) => Array.from({ length: 20 }, () => ({ id, key })))
      )
      const openAll = (some: typeof requests) =>
        Effect.forEach(some, ({ id, key }) => openPoll(server, id, key), { concurrency: 100 })

      // The first requests warm the server up. What they load and compile does not count.
      yield* Effect.scoped(Effect.andThen(openAll(requests.slice(0, 100)), held(100)))
      yield* held(0)
      const before = yield* server.memoryInUse
      const polls = yield* openAll(requests)
      yield* held(2_000)
      const grown = (yield* server.memoryInUse) - before
      assert.isBelow(grown, 100 * 1024 ** 2)

      yield* Program.startWorker({ ...site.environment, KINORA_WORKERS: "10" })
      for (const answer of yield* Fiber.joinAll(polls)) {
        assert.deepStrictEqual([answer.status, jobIn(answer).status], [200, "completed"])
      }
      yield* held(0)
    }))
})

/** Asserts that none of these requests has a response. */
const assertWaiting = (polls: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) =>
  assert.deepStrictEqual(polls.filter((poll) => poll.pollUnsafe() !== undefined), [])

const realClock = Clock.Clock.defaultValue()

/**
 * A server with this clock looks for the end of a job every ten hours instead of every ten seconds, so that only a notification
 * ends a wait. `longPoll.process.ts` measures how soon.
 */
const clockWithLongSleeps: Clock.Clock = {
  currentTimeMillisUnsafe: () => realClock.currentTimeMillisUnsafe(),
  currentTimeMillis: realClock.currentTimeMillis,
  currentTimeNanosUnsafe: () => realClock.currentTimeNanosUnsafe(),
  currentTimeNanos: realClock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => realClock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: realClock.monotonicTimeNanos,
  sleep: (duration) => realClock.sleep(Duration.times(duration, 3_600))
}

/** A server that runs no jobs. */
const startServer = ({ environment }: Site) => Program.startServer({ ...environment, KINORA_WORKERS: "0" })

/** Returns a function that waits until waiting requests of these keys hold this many places. */
const makeHeld = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
  const accounts = yield* Accounts.Accounts
  const places = yield* Places.Places
  const ids = yield* Effect.forEach(keys, (key) => accounts.authenticate(Redacted.make(key)))
  const held = Effect.forEach(
    ids,
    (identity) => places.held(`wait:${Option.getOrThrow(identity).keyId}`),
    { concurrency: 10 }
  )
  return (count: number) =>
    Effect.repeat(held, {
      until: (counts) => counts.reduce((sum, one) => sum + one, 0) === count,
      // Without pauses, the queries take the processor from the server.
      schedule: Schedule.spaced("500 millis")
    })
})

/**
 * Sends a waiting request and returns the fiber of the response with the end of the job. As clients do, it waits again
 * after 60 seconds: on a busy machine, 2,000 requests take longer.
 */
const openPoll = Effect.fnUntraced(function*({ baseUrl }: Program.Server, id: string, key: string) {
  const request = {
    method: "GET",
    target: `/v1/generations/${id}?wait=60`,
    headers: [["authorization", `Bearer ${key}`]]
  } as const
  const open = Effect.tap(RawHttp.open(baseUrl), (socket) => RawHttp.write(socket, request))
  const first = yield* open
  const again = Effect.scoped(Effect.flatMap(open, RawHttp.read))
  const until = (answer: RawHttp.BytesResponse) => answer.status !== 200 || Client.isFinal(jobIn(answer))
  return yield* RawHttp.read(first).pipe(
    Effect.flatMap((answer) => until(answer) ? Effect.succeed(answer) : Effect.repeat(again, { until })),
    Effect.forkScoped({ startImmediately: true })
  )
})

const jobIn = ({ bytes }: RawHttp.BytesResponse): Pick<Client.Job, "status"> =>
  JSON.parse(new TextDecoder().decode(bytes))
