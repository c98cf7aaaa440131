/**
 * Servers that are killed with SIGKILL: every job reaches its final status once, and the ledger is consistent. The next
 * server takes over the jobs after the lease of 8 seconds has expired, and at most 4 seconds later.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Random } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import { databases, makeSite } from "./sites.ts"
import { stopSound } from "./stopSound.ts"

const price = 3
const models = [
  Drill.model({ id: "drill-short", credits: price, delay: "2 seconds" }),
  Drill.model({ id: "drill-bad", credits: price, failure: "generation_failed" })
]
const [short, bad] = models.map(({ id }) => id)

// One after the other: two of these drills together are so slow that leases expire between the kills.
describe("after kills", { timeout: 900_000 }, () => {
  for (const database of databases) {
    it.live(`of a server, nine at random moments and one with 50 jobs in flight, every job ends once (${database})`, () =>
      Effect.gen(function*() {
        const site = yield* makeSite(database, models)
        const { accounts, burstAccounts } = yield* Books.use(
          site,
          Effect.all({
            accounts: Books.openAccounts(6, { credits: 10_000 }),
            burstAccounts: Books.openAccounts(10, { credits: 100 })
          })
        )
        const environment = { ...site.environment, KINORA_WORKERS: "60" }
        const known: Array<KnownJob> = []
        for (let round = 0; round < 9; round++) {
          const server = yield* Program.startServer(environment)
          yield* actUntilKilled(server, accounts, known)
        }
        const burst = yield* killWithJobsInFlight(yield* Program.startServer(environment), burstAccounts)

        const last = yield* Program.startServer(environment)
        const ended = yield* awaitEnds(last, known)
        const burstEnded = yield* awaitEnds(last, burst)
        for (const { output, refunded, status } of ended) {
          assert.deepStrictEqual([output !== null, refunded], [status === "completed", status !== "completed"])
        }
        for (const { output, status } of burstEnded) {
          assert.strictEqual(status, "completed")
          const content = yield* Client.send(output?.url ?? "")
          assert.deepStrictEqual([content.status, content.bytes.length], [200, output?.bytes])
        }
        yield* assertUnchanged(last, [...known, ...burst], [...ended, ...burstEnded])
        // A job that three of the kills interrupt fails, and is refunded.
        yield* stopSound(last, /AttemptsExhausted/)

        const { completed, verified: { problems, totals } } = yield* Books.use(
          site,
          Effect.all({
            completed: Books.completedJobs([...accounts, ...burstAccounts]),
            verified: Books.verify
          })
        )
        assert.deepStrictEqual(problems, [])
        assert.strictEqual(totals.consumed + totals.remaining, totals.granted)
        assert.strictEqual(totals.consumed, completed * price)
        // Some jobs are unknown here because the response to their creation was lost. They can complete as well.
        const completedHere = [...ended, ...burstEnded].filter(({ status }) => status === "completed").length
        assert.isAtLeast(completed, completedHere)
        const files = yield* Site.files(site)
        for (const file of ["content", "preview", "thumb"]) {
          assert.strictEqual(files.filter((name) => name.endsWith(file)).length, completed, file)
        }
      }))
  }
})

interface KnownJob {
  readonly id: string
  readonly key: string
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const create = Effect.fnUntraced(function*({ baseUrl }: Program.Server, key: string, order: Client.Order) {
  const created = yield* Client.untilAvailable(Client.make(baseUrl, key).create(order))
  assert.strictEqual(created.status, 201)
  const job: KnownJob = { id: Client.jobOf(created).id, key }
  return job
})

const awaitEnd = ({ baseUrl }: Program.Server, { id, key }: KnownJob) => Client.make(baseUrl, key).awaitEnd(id)

const awaitEnds = (server: Program.Server, jobs: ReadonlyArray<KnownJob>) =>
  Effect.forEach(jobs, (job) => awaitEnd(server, job), { concurrency: Client.longPollsMax })

/** Asserts that jobs which have ended have not changed since. */
const assertUnchanged = Effect.fnUntraced(
  function*({ baseUrl }: Program.Server, jobs: ReadonlyArray<KnownJob>, ended: ReadonlyArray<Client.Job>) {
    const now = yield* Effect.forEach(jobs, ({ id, key }) => Client.make(baseUrl, key).get(id), { concurrency: 10 })
    const withoutUrls = (job: Client.Job) => ({ ...job, output: job.output?.bytes })
    assert.deepStrictEqual(now.map(withoutUrls), ended.map(withoutUrls))
  }
)

/** Creates five jobs per account and kills the server as soon as one of them has ended. */
const killWithJobsInFlight = Effect.fnUntraced(
  function*(server: Program.Server, accounts: ReadonlyArray<Books.TestAccount>) {
    // Four jobs of each account hold a slot; the fifth waits for one.
    const jobs = yield* Effect.forEach(
      accounts.flatMap(({ key }) => numbers(5).map((n) => ({ key, prompt: `lake ${n}` }))),
      ({ key, prompt }) => create(server, key, { model: `${short}`, prompt }),
      { concurrency: 10 }
    )
    // Jobs that started together end together: one has ended, and others are about to.
    yield* Effect.raceAll(jobs.map((job) => awaitEnd(server, job)))
    assert.strictEqual((yield* server.kill).signal, "SIGKILL")
    return jobs
  }
)

/** Creates and cancels jobs of each account until the server is killed, after a random number of responses. */
const actUntilKilled = Effect.fnUntraced(function*(
  server: Program.Server,
  accounts: ReadonlyArray<Books.TestAccount>,
  known: Array<KnownJob>
) {
  const answers = yield* Queue.unbounded<void>()
  const act = Effect.fnUntraced(function*({ key }: Books.TestAccount) {
    const client = Client.make(server.baseUrl, key)
    while (true) {
      const model = (yield* Random.nextBoolean) ? `${short}` : `${bad}`
      const created = yield* client.create({ model, prompt: `lake ${yield* Random.nextInt}` })
      yield* Queue.offer(answers, undefined)
      if (created.status !== 201) {
        // Until the database closes the connections of a killed server, its locks can delay a request for longer than it waits.
        assert.include(["queue_full", "rate_limited", "unavailable"], Client.errorCodeOf(created))
        continue
      }
      const { id } = Client.jobOf(created)
      known.push({ id, key })
      if (yield* Random.nextBoolean) yield* client.cancel(id)
      yield* Queue.offer(answers, undefined)
    }
  })
  const clients = yield* Effect.forEach(
    accounts,
    (account) => Effect.forkChild(Effect.flip(act(account)), { startImmediately: true })
  )
  yield* Queue.takeN(answers, yield* Random.nextIntBetween(1, 60))
  yield* server.kill
  for (const error of yield* Fiber.joinAll(clients)) assert.instanceOf(error, Client.NoAnswer)
})
