/** What happens to clients and to jobs when a host is told to stop (D51). */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { databases, makeSite } from "./sites.ts"

/** What a stop may take when no job runs. */
const promptlyMillis = 5_000

const models = [
  Drill.model({ id: "drill-short", delay: "4 seconds" }),
  // Longer than the grace time of 30 seconds.
  Drill.model({ id: "drill-long", delay: "45 seconds" })
]

describe.concurrent("a host that is told to stop", { timeout: 180_000 }, () => {
  for (const database of databases) {
    it.live(`answers who waits with the job as it is, and ends within seconds (${database})`, () =>
      Effect.gen(function*() {
        const { environment } = yield* makeSite(database, models)
        const { client, server } = yield* start({ ...environment, KINORA_WORKERS: "0" })
        const { id } = Client.jobOf(yield* client.create({ model: "drill-short" }))
        const polls = yield* Effect.forEach(
          Array.from({ length: 10 }),
          () => Effect.forkChild(client.get(id, 60), { startImmediately: true })
        )
        // Answered after the polls have arrived, being sent after them.
        yield* client.get(id)
        const asked = yield* Clock.currentTimeMillis
        const stopping = yield* Effect.forkChild(server.stop, { startImmediately: true })
        for (const job of yield* Fiber.joinAll(polls)) assert.strictEqual(job.status, "queued")
        const { code, stderr } = yield* Fiber.join(stopping)
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.isBelow((yield* Clock.currentTimeMillis) - asked, promptlyMillis)
      }))

    it.live(`ends in spite of a client that asks again and again (${database})`, () =>
      Effect.gen(function*() {
        const { environment } = yield* makeSite(database, models)
        const { client, server } = yield* start({ ...environment, KINORA_WORKERS: "0" })
        const { id } = Client.jobOf(yield* client.create({ model: "drill-short" }))
        const polling = yield* Effect.forkChild(Effect.flip(Effect.forever(client.get(id, 60))), {
          startImmediately: true
        })
        yield* client.get(id)
        const asked = yield* Clock.currentTimeMillis
        assert.strictEqual((yield* server.stop).code, 0)
        assert.isBelow((yield* Clock.currentTimeMillis) - asked, promptlyMillis)
        assert.instanceOf(yield* Fiber.join(polling), Client.NoAnswer)
      }))

    it.live(`lets a running job come to its end (${database})`, () =>
      Effect.gen(function*() {
        const { environment } = yield* makeSite(database, models)
        const first = yield* start(environment)
        const { id } = Client.jobOf(yield* first.client.create({ model: "drill-short" }))
        yield* awaitStart(first.client, id)
        assert.strictEqual((yield* first.server.stop).code, 0)
        const second = yield* start({ ...environment, KINORA_WORKERS: "0" })
        assert.strictEqual((yield* Client.make(second.server.baseUrl, first.key).get(id)).status, "completed")
      }))
  }

  it.live("ends in spite of connections that say nothing, or do not say all", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("Postgres", models)
      const { client, server } = yield* start({ ...environment, KINORA_WORKERS: "0" })
      yield* openConnection(server, "")
      yield* openConnection(server, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
      // An answer to who came last: the others have been let in.
      assert.strictEqual((yield* client.request("/healthz")).status, 200)
      const asked = yield* Clock.currentTimeMillis
      assert.strictEqual((yield* server.stop).code, 0)
      assert.isBelow((yield* Clock.currentTimeMillis) - asked, promptlyMillis)
    }))

  it.live("gives a job back that runs longer, and the next start goes on with it where it was", () =>
    Effect.gen(function*() {
      const site = yield* makeSite("PGlite", models)
      const first = yield* start(site.environment)
      const { id } = Client.jobOf(yield* first.client.create({ model: "drill-long" }))
      const started = yield* awaitStart(first.client, id)
      assert.strictEqual((yield* first.server.stop).code, 0)
      const second = yield* start(site.environment)
      const done = yield* Client.make(second.server.baseUrl, first.key).awaitEnd(id)
      assert.deepStrictEqual([done.status, done.started_at], ["completed", started.started_at])
      // What was begun anew after the grace time would take 75 seconds and more.
      assert.isBelow(Date.parse(done.finished_at ?? "") - Date.parse(done.started_at ?? ""), 70_000)
      assert.strictEqual((yield* second.server.stop).code, 0)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], 1])
    }))

  it.live("ends within seconds when it is a worker without a job", () =>
    Effect.gen(function*() {
      const { environment } = yield* makeSite("Postgres", models)
      const worker = yield* Program.startWorker(environment)
      const asked = yield* Clock.currentTimeMillis
      const { code, stderr } = yield* worker.stop
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.isBelow((yield* Clock.currentTimeMillis) - asked, promptlyMillis)
    }))
})

const start = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>) {
  const server = yield* Program.startServer(environment)
  const key = server.apiKey ?? ""
  return { server, key, client: Client.make(server.baseUrl, key) }
})

/** A connection on which nothing follows this text. */
const openConnection = ({ baseUrl }: Program.Server, text: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, port } = new URL(baseUrl)
      const socket = connect(Number(port), hostname)
      await once(socket, "connect")
      // However the server ends it.
      socket.on("error", () => {})
      socket.write(text)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** The job once a worker has it. */
const awaitStart = (client: Client.Client, id: string) =>
  Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" })
