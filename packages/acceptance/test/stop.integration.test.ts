/** How a host stops on SIGTERM: what its clients receive, and what happens to running jobs. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import * as RawHttp from "../src/RawHttp.ts"
import * as StopTime from "../src/StopTime.ts"
import { databases, makeSite } from "./sites.ts"

/**
 * Less than every wait that a host could use up by mistake: 20 seconds for the head of a request, 25 for open requests, 30
 * for running jobs, 60 for a waiting request.
 */
const promptlyMillis = 5_000

const short = Drill.model({ id: "drill-short", delay: "4 seconds" })
/** Runs longer than the grace time. */
const long = Drill.model({ id: "drill-long", delay: "45 seconds" })
const models = [short, long]

describe.concurrent("a host that receives SIGTERM", { timeout: 600_000 }, () => {
  for (const database of databases) {
    it.live(`finishes short jobs, responds to waiting clients and exits (${database})`, () =>
      Effect.gen(function*() {
        const { environment } = yield* makeSite(database, models)
        const running = yield* start(environment)
        const { id } = yield* running.client.createJob({ model: short.id })
        yield* awaitStart(running.client, id)
        assert.strictEqual((yield* running.server.stop).code, 0)

        const idle = yield* start({ ...environment, KINORA_WORKERS: "0" })
        assert.strictEqual((yield* idle.client.get(id)).status, "completed")
        yield* assertPromptStop(idle)
      }))
  }

  it.live("releases a job that outlasts the grace time, and the next host continues it from its checkpoint", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("PGlite", models)
      const first = yield* start(site.environment)
      const { id } = yield* first.client.createJob({ model: long.id })
      const started = yield* awaitStart(first.client, id)
      const { code, stderr } = yield* first.server.stop
      assert.strictEqual(code, 0, stderr)

      const second = yield* start(site.environment)
      const continued = yield* Clock.currentTimeMillis
      const done = yield* second.client.awaitEnd(id)
      assert.deepStrictEqual([done.status, done.started_at], ["completed", started.started_at])
      // A job that started again from the beginning would need 45 seconds.
      assert.isBelow(Date.parse(done.finished_at ?? "") - continued, 40_000)
      assert.strictEqual((yield* second.server.stop).code, 0)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], 1])
    }))

  it.live("exits promptly if it is a worker without jobs", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("Postgres", models)
      const worker = yield* Program.startWorker(environment)
      const { code, stderr, waitedMillis } = yield* StopTime.stop(worker)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.isBelow(waitedMillis, promptlyMillis)
    }))
})

/** A server and a client with the key of its demo account. */
const start = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
  const server = yield* Program.startServer(environment)
  return { server, client: Client.make(server.baseUrl, server.apiKey ?? "") }
})

/**
 * Stops an idle server that has waiting requests, a client that repeats its request for ever, a connection without a
 * request and one with half a request.
 */
const assertPromptStop = Effect.fnUntraced(function*({ client, server }: Effect.Success<ReturnType<typeof start>>) {
  const { id } = yield* client.createJob({ model: short.id, prompt: "another lake" })
  yield* RawHttp.open(server.baseUrl)
  const half = yield* RawHttp.open(server.baseUrl)
  yield* Effect.sync(() => half.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"))
  const waiting = yield* Effect.forEach(
    Array.from({ length: 10 }),
    () => Effect.forkChild(client.get(id, 60), { startImmediately: true })
  )
  const repeating = yield* Effect.forkChild(Effect.flip(Effect.forever(client.get(id, 60))), { startImmediately: true })
  // Sent after the others, so the server has received those when it responds.
  yield* client.get(id)

  const stopping = yield* Effect.forkChild(StopTime.stop(server), { startImmediately: true })
  for (const job of yield* Fiber.joinAll(waiting)) assert.strictEqual(job.status, "queued")
  const { code, stderr, waitedMillis } = yield* Fiber.join(stopping)
  assert.deepStrictEqual([code, stderr], [0, ""])
  assert.isBelow(waitedMillis, promptlyMillis)
  assert.instanceOf(yield* Fiber.join(repeating), Client.NoAnswer)
})

/** The job once a worker runs it. */
const awaitStart = (client: Client.Client, id: string) =>
  Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" })
