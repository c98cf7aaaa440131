/**
 * Hosts that are killed. Whatever they were doing: every job ends, once, and the
 * books agree. A lost worker's jobs are taken over when their leases run out, after
 * 30 seconds and a look-around of up to 15; that is what these tests wait for.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Random } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import { databases, makeSite } from "./sites.ts"

const price = 3
const models = [
  Drill.model({ id: "drill-short", credits: price, delay: "2 seconds" }),
  Drill.model({ id: "drill-bad", credits: price, failure: "generation_failed" }),
  // Longer than it takes until another worker takes over.
  Drill.model({ id: "drill-long", credits: price, delay: "50 seconds" })
]
const [short, bad, long] = models.map(({ id }) => id)

describe.concurrent("after a kill", { timeout: 300_000 }, () => {
  for (const database of databases) {
    it.live(`of the server with 50 jobs in flight, each completes once (${database})`, () =>
      Effect.gen(function*() {
        const site = yield* makeSite(database, models)
        const accounts = yield* Books.use(site, Books.openAccounts(10, { credits: 100 }))
        const environment = { ...site.environment, KINORA_WORKERS: "30" }
        const first = yield* Program.startServer(environment)
        // Four of each account's jobs hold a slot, the fifth waits for one.
        const jobs = yield* Effect.forEach(
          accounts.flatMap(({ key }) => numbers(5).map((n) => ({ key, prompt: `lake ${n}` }))),
          ({ key, prompt }) => create(first, key, { model: `${short}`, prompt }),
          { concurrency: 10 }
        )
        // Those that started together end together: one has, and others are about to.
        yield* Effect.raceAll(jobs.map((job) => awaitEnd(first, job)))
        assert.strictEqual((yield* first.kill).signal, "SIGKILL")

        const second = yield* Program.startServer(environment)
        const ended = yield* awaitEnds(second, jobs)
        for (const { output, status } of ended) {
          assert.strictEqual(status, "completed")
          const content = yield* Client.send(output?.url ?? "")
          assert.deepStrictEqual([content.status, content.bytes.length], [200, output?.bytes])
        }
        yield* assertUnchanged(second, jobs, ended)
        yield* stopSound(second)
        const files = yield* Site.files(site)
        for (const file of ["content", "preview", "thumb"]) {
          assert.strictEqual(files.filter((name) => name.endsWith(file)).length, jobs.length, file)
        }
        const { problems, totals } = yield* Books.use(site, Books.verify)
        assert.deepStrictEqual([problems, totals.consumed], [[], jobs.length * price])
      }))

    it.live(`at ten random moments of creating and cancelling, every job ends once (${database})`, () =>
      Effect.gen(function*() {
        const site = yield* makeSite(database, models)
        const accounts = yield* Books.use(site, Books.openAccounts(6, { credits: 10_000 }))
        const known: Array<KnownJob> = []
        for (let round = 0; round < 10; round++) {
          const server = yield* Program.startServer(site.environment)
          yield* actUntilKilled(server, accounts, known)
        }
        const last = yield* Program.startServer(site.environment)
        const ended = yield* awaitEnds(last, known)
        yield* assertUnchanged(last, known, ended)
        yield* stopSound(last)
        for (const { output, refunded, status } of ended) {
          assert.deepStrictEqual([output !== null, refunded], [status === "completed", status !== "completed"])
        }
        const { problems, totals } = yield* Books.use(site, Books.verify)
        assert.deepStrictEqual(problems, [])
        assert.strictEqual(totals.consumed + totals.remaining, totals.granted)
        // A job whose 201 was lost with the server is not known here, and may have completed as well.
        assert.isAtLeast(totals.consumed, ended.filter(({ status }) => status === "completed").length * price)
      }))
  }

  it.live("of one of two workers, the other goes on with its jobs where they were", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres", models)
      const server = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
      const { key } = yield* Books.use(site, Books.openAccount({ credits: 100, tier: "business" }))
      const four = { ...site.environment, KINORA_WORKERS: "4" }
      const [victim, heir] = yield* Effect.all([Program.startWorker(four), Program.startWorker(four)], {
        concurrency: 2
      })
      const jobs = yield* Effect.forEach(
        numbers(8),
        (n) => create(server, key, { model: `${long}`, prompt: `lake ${n}` })
      )
      // Each worker has room for half of them.
      const client = Client.make(server.baseUrl, key)
      const started = yield* Effect.forEach(jobs, ({ id }) =>
        Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" }))
      yield* victim.kill
      const ended = yield* Effect.forEach(jobs, (job) =>
        awaitEnd(server, job), { concurrency: "unbounded" })
      for (const [n, { finished_at, started_at, status }] of ended.entries()) {
        assert.deepStrictEqual([status, started_at], ["completed", started[n]?.started_at])
        // Half a minute for the lease and 50 seconds for the work, had it begun anew.
        assert.isBelow(Date.parse(finished_at ?? "") - Date.parse(started_at ?? ""), 75_000)
      }
      const { stderr } = yield* stopSound(heir)
      assert.strictEqual(stderr.match(/worker was lost/g)?.length, 4)
      yield* stopSound(server)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], jobs.length * price])
    }))
})

interface KnownJob {
  readonly id: string
  readonly key: string
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const create = Effect.fnUntraced(function*({ baseUrl }: Program.Server, key: string, order: Client.Order) {
  const created = yield* Client.make(baseUrl, key).create(order)
  assert.strictEqual(created.status, 201)
  const job: KnownJob = { id: Client.jobOf(created).id, key }
  return job
})

const awaitEnd = ({ baseUrl }: Program.Server, { id, key }: KnownJob) => Client.make(baseUrl, key).awaitEnd(id)

const awaitEnds = (server: Program.Server, jobs: ReadonlyArray<KnownJob>) =>
  Effect.forEach(jobs, (job) => awaitEnd(server, job), { concurrency: Client.longPollsMax })

/** Stops a host that had nothing to complain about but the loss of others. */
const stopSound = Effect.fnUntraced(function*(program: Program.Program) {
  const ended = yield* program.stop
  assert.strictEqual(ended.code, 0)
  assert.notMatch(ended.stderr, /"level":"(ERROR|FATAL)"/i)
  return ended
})

/** What has ended stays as it ended. */
const assertUnchanged = Effect.fnUntraced(
  function*({ baseUrl }: Program.Server, jobs: ReadonlyArray<KnownJob>, ended: ReadonlyArray<Client.Job>) {
    const now = yield* Effect.forEach(jobs, ({ id, key }) => Client.make(baseUrl, key).get(id), { concurrency: 10 })
    const withoutUrls = (job: Client.Job) => ({ ...job, output: job.output?.bytes })
    assert.deepStrictEqual(now.map(withoutUrls), ended.map(withoutUrls))
  }
)

/** Each account creates and cancels until a kill, after a number of answers that chance decides. */
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
        assert.include(["queue_full", "rate_limited"], Client.errorCodeOf(created))
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
