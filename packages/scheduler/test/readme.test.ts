import { assert, it, vi } from "@effect/vitest"
import { Scheduler } from "@kinora/scheduler"
import { Example } from "@kinora/testkit"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { readFile } from "node:fs/promises"
import { schedulesLayer } from "../example/cron.ts"
import { makeHandler, Render } from "../example/settle.ts"
import { startWorker } from "./Fixture.ts"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [["queued", "pending"], [["dawn", "noon"]]])
  log.mockRestore()
})

it.live("prints what the example with delayed jobs shows", () =>
  Effect.gen(function*() {
    const printed = yield* Example.printed(() => import("../example/delayed.ts"))
    assert.strictEqual(printed, "delayed\ndelayed\nqueued\nYour render has started\nYour render is ready")
  }))

it.live("prints what the example with retries shows", () =>
  Effect.gen(function*() {
    const printed = yield* Example.printed(() => import("../example/retry.ts"))
    assert.strictEqual(printed, "2 Error: busy for the 3. time")
  }))

it.live("prints what the example with a unique key shows", () =>
  Effect.gen(function*() {
    const printed = yield* Example.printed(() => import("../example/unique.ts"))
    assert.strictEqual(printed, "true\nfalse\nfalse")
  }))

it.live("prints what the example with a priority shows", () =>
  Effect.gen(function*() {
    const printed = yield* Example.printed(() => import("../example/priority.ts"))
    assert.strictEqual(printed, "[ 'dawn', 'a preview', 'noon' ]")
  }))

it.effect("enqueues a report every night, as the schedule of the README does", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler.Scheduler
    yield* Layer.build(schedulesLayer)
    // In January, Berlin is one hour ahead of UTC.
    yield* TestClock.adjust("1 hour")
    yield* TestClock.adjust("1 hour")
    yield* scheduler.enqueueDue(10)
    yield* TestClock.adjust("1 day")
    const jobs = yield* scheduler.waiting(0, 10)
    assert.deepStrictEqual(jobs.map(({ kind, state }) => [kind, state]), [["report", "queued"]])
    const lease = yield* scheduler.takeLease({ id: "1", worker: "1", kinds: [], slots: 1, ttl: "1 hour" })
    const [claimed] = yield* scheduler.claim({ lease, worker: "1", kinds: ["report"], limit: 10 })
    assert.deepStrictEqual(claimed?.payload, { until: "1970-01-01T02:00:00.000Z" })
  }).pipe(Effect.scoped, Effect.provide(Scheduler.layerMemory)))

it.effect("stores each result once, as the handler of the README does", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler.Scheduler
    const results = yield* Queue.unbounded<string>()
    const handler = yield* makeHandler((result) => Effect.asVoid(Queue.offer(results, result)))
    const ada = { lane: "ada/render", group: "ada", cap: 1, waitingMax: 2, kind: Render }
    const enqueue = (scene: string) => scheduler.enqueue({ ...ada, job: crypto.randomUUID(), payload: { scene } })
    yield* Effect.forEach(["dawn", "noon", "dusk"], enqueue)
    const refused = yield* Effect.flip(enqueue("night"))
    assert.strictEqual(refused.message, "The queue of ada is full: 2 of at most 2 jobs are waiting")
    yield* startWorker({ name: "worker-1", handlers: [handler] })
    const stored = yield* Effect.forEach([1, 2, 3], () => Queue.take(results))
    assert.deepStrictEqual(stored, ["dawn is rendered", "noon is rendered", "dusk is rendered"])
  }).pipe(Effect.scoped, Effect.provide(Scheduler.layerMemory)))

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (
    const example of [
      "memory",
      "postgres",
      "settle",
      "promise",
      "processes",
      "schema",
      "delayed",
      "retry",
      "unique",
      "priority",
      "cron"
    ]
  ) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
  assert.include(readme, await read("./contract.test.ts"))
})
