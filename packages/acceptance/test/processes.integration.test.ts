/** A server of several processes: they share its port, replace one another, and stop together. */
import { assert, describe, it } from "@effect/vitest"
import { FreePort } from "@kinora/testkit"
import { Effect, Schedule } from "effect"
import { connect } from "node:net"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

const short = Drill.model({ id: "drill-short", delay: "3 seconds" })

/** A server of two processes, each with a listener for operators on a free port. */
const startWith = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>>) {
  const site = yield* makeSite("Postgres", [short])
  const environment = { ...site.environment, KINORA_PROCESSES: "2", KINORA_ADMIN_PORT: "0", ...settings }
  const server = yield* Program.startServer(environment)
  return { site, server, client: Client.make(server.baseUrl, server.apiKey ?? "") }
})

const start = startWith({})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Succeeds when the processes have ended. */
const awaitEnds = (processes: Program.Server["processes"]) =>
  Effect.repeat(Effect.sync(() => processes.some(({ pid }) => isRunning(pid))), {
    while: Boolean,
    schedule: Schedule.spaced("50 millis")
  })

/** Sum of a metric of a process over all labels. */
const metricOf = Effect.fnUntraced(function*(name: string, { operatorUrl }: Program.Server["processes"][number]) {
  const text = new TextDecoder().decode((yield* Client.send(`${operatorUrl}/metrics`)).bytes)
  return [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, "gm"))].reduce(
    (sum, [, count]) => sum + Number(count),
    0
  )
})

/** Opens a connection, and sends a request. Returns whether a response begins; otherwise, the connection was closed. */
const isAccepted = Effect.fnUntraced(function*(url: string) {
  const { hostname, port } = new URL(url)
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(Number(port), hostname)),
    (socket) => Effect.sync(() => socket.destroy())
  )
  return yield* Effect.callback<boolean>((resume) => {
    socket.on("error", () => {}).once("data", () => resume(Effect.succeed(true)))
    socket.once("close", () => resume(Effect.succeed(false)))
    socket.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
  })
})

describe.concurrent("a server of several processes", { timeout: 600_000 }, () => {
  it.live("handles requests in each, and replaces a process that is killed, whose job continues", () =>
    Effect.gen(function*() {
      const { client, server, site } = yield* start
      const [first, second] = server.processes
      if (first === undefined || second === undefined) return assert.fail("The server has one process")
      // Each request has a connection of its own.
      const send = Client.untilAvailable(client.request("/v1/models", { headers: { connection: "close" } }))
      const isShared = Effect.gen(function*() {
        assert.strictEqual((yield* send).status, 200)
        const counts = yield* Effect.forEach([first, second], (one) => metricOf("kinora_http_requests_total", one))
        return counts.every((count) => count > 0)
      })
      yield* Effect.repeat(isShared, { until: Boolean })

      const { id } = yield* client.createJob({ model: short.id })
      process.kill(first.pid, "SIGKILL")
      yield* awaitEnds([first])
      // A connection that the killed process was given ends without a response.
      const answer = yield* Effect.retry(send, Schedule.spaced("50 millis"))
      assert.strictEqual(answer.status, 200)
      assert.strictEqual((yield* client.awaitEnd(id)).status, "completed")
      yield* Effect.repeat(server.printed, {
        until: ({ stderr }) => stderr.includes("Process 1 was killed by SIGKILL. Another one takes its place"),
        schedule: Schedule.spaced("50 millis")
      })
      const { code, stderr } = yield* server.stop
      assert.strictEqual(code, 0, stderr)
      const { problems, totals } = yield* Books.use(site, Books.verify)
      assert.deepStrictEqual([problems, totals.consumed], [[], 1])
    }))

  it.live("closes a connection that is passed to a process with the maximum number of connections", () =>
    Effect.gen(function*() {
      const { server } = yield* startWith({ KINORA_MAX_CONNECTIONS: "16", KINORA_MAX_CONNECTIONS_PER_ADDRESS: "16" })
      yield* Effect.repeat(isAccepted(server.baseUrl), { while: Boolean })
      const rejected = yield* Effect.forEach(
        server.processes,
        (one) => metricOf("kinora_http_connections_rejected_total", one)
      )
      assert.strictEqual(rejected.reduce((sum, count) => sum + count, 0), 1)
    }))

  it.live("finishes jobs and ends all processes after SIGTERM", () =>
    Effect.gen(function*() {
      const { client, server, site } = yield* start
      const { id } = yield* client.createJob({ model: short.id })
      yield* Effect.repeat(client.get(id, 1), { until: ({ status }) => status === "processing" })
      const { code, stderr } = yield* server.stop
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(server.processes.filter(({ pid }) => isRunning(pid)), [])
      const next = yield* Program.startServer({ ...site.environment, KINORA_WORKERS: "0" })
      assert.strictEqual((yield* Client.make(next.baseUrl, server.apiKey ?? "").get(id)).status, "completed")
    }))

  it.live("ends its processes when the one that started them is killed", () =>
    Effect.gen(function*() {
      const { server } = yield* start
      yield* server.kill
      yield* awaitEnds(server.processes)
    }))

  it.live("does not start if a process cannot", () =>
    Effect.gen(function*() {
      const port = yield* Effect.promise(() => FreePort.find(2))
      yield* Effect.acquireRelease(
        Effect.promise(() => FreePort.take(port + 1)),
        (server) => Effect.sync(() => server.close())
      )
      const { environment } = yield* makeSite("Postgres")
      const error = yield* Effect.flip(Program.startServer({
        ...environment,
        KINORA_PROCESSES: "2",
        KINORA_ADMIN_PORT: String(port)
      }))
      assert.strictEqual(error._tag, "NotReady")
      const { code, stderr } = error.ended
      assert.strictEqual(code, 1)
      assert.include(stderr, `port ${port + 1} of 127.0.0.1 is in use`)
      assert.include(stderr, "Process 2 did not start: it ended with code 1")
    }))
})
