/** The scheduler of programs without Effect, in memory. */
import { assert, it, vi } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import {
  AlreadyRunningError,
  createScheduler,
  DuplicateJobError,
  InvalidJobIdError,
  InvalidPriorityError,
  type Job,
  JobNotFoundError,
  LeaseLostError,
  QueueFullError,
  type Scheduler,
  TimeLimitExceededError
} from "../src/promise.ts"

const ada = { lane: "ada/render", group: "ada", cap: 1, kind: "render" }

/** Waits until the jobs of a scheduler satisfy a condition. */
const until = async (scheduler: Scheduler, holds: (states: ReadonlyArray<string>) => boolean) => {
  for (;;) {
    const queues = await scheduler.queues()
    const states = queues.flatMap(({ pending, queued, running }) => [
      ...Array.from({ length: pending }, () => "pending"),
      ...Array.from({ length: queued }, () => "queued"),
      ...Array.from({ length: running }, () => "running")
    ])
    if (holds(states)) return
    // Memory responds before timers and other callbacks have their turn.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const ended = (states: ReadonlyArray<string>) => states.length === 0

it("runs jobs in the order of their lane, with plain objects and dates", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const dawn = await scheduler.enqueue({ ...ada, payload: { scene: "dawn" } })
  const noon = await scheduler.enqueue({ ...ada, payload: { scene: "noon" } })
  assert.deepStrictEqual([dawn.state, noon.state], ["queued", "pending"])
  const [found] = await scheduler.find([noon.job])
  assert.deepInclude(found, { job: noon.job, kind: "render", state: "pending", worker: undefined })
  assert.instanceOf(found?.enqueuedAt, Date)
  const scenes: Array<string> = []
  await using worker = await scheduler.work({
    name: "worker-1",
    handlers: {
      render: async (job: Job<{ readonly scene: string }>) => {
        assert.deepInclude(job, { kind: "render", attempt: 1, checkpoint: undefined, timeLimit: undefined })
        assert.instanceOf(job.startedAt, Date)
        scenes.push(job.payload.scene)
      }
    }
  })
  await until(scheduler, ended)
  assert.deepStrictEqual(scenes, ["dawn", "noon"])
  assert.deepStrictEqual(await worker.running(), [])
  assert.deepStrictEqual(await scheduler.verify(), [])
})

it("runs jobs with ids of the program", async () => {
  await using scheduler = await createScheduler({ memory: true })
  assert.deepInclude(await scheduler.enqueue({ ...ada, job: "order 1", payload: 1 }), {
    job: "order 1",
    state: "queued"
  })
  await scheduler.enqueue({ ...ada, job: "order 2", payload: 2, delay: "1 hour" })
  assert.deepInclude(await scheduler.cancel({ job: "order 2" }), { job: "order 2", state: "delayed" })
  const error = await scheduler.enqueue({ ...ada, job: "order\0", payload: 3 }).catch((error: unknown) => error)
  assert.instanceOf(error, InvalidJobIdError)
  assert.deepInclude(error, { code: "invalid_job_id", job: "order\0", max: 255 })
  const ran: Array<string> = []
  await using _worker = await scheduler.work({ name: "worker-1", handlers: { render: ({ job }) => ran.push(job) } })
  await until(scheduler, ended)
  assert.deepStrictEqual(ran, ["order 1"])
})

it("starts jobs with a higher priority first, and refuses invalid ones", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const wide = { ...ada, cap: 10 }
  await scheduler.enqueue({ ...wide, payload: "later" })
  const { job } = await scheduler.enqueue({ ...wide, payload: "first", priority: 100 })
  assert.deepInclude((await scheduler.find([job]))[0], { priority: 100, state: "queued" })
  for (const delay of [undefined, "1 hour"] as const) {
    const error = await scheduler.enqueue({ ...wide, job: "job 1", payload: 1, priority: 101, delay }).catch(
      (error: unknown) => error
    )
    assert.instanceOf(error, InvalidPriorityError)
    assert.deepInclude(error, { code: "invalid_priority", job: "job 1", priority: 101, max: 100 })
  }
  const ran: Array<unknown> = []
  await using _worker = await scheduler.work({
    name: "worker-1",
    concurrency: 1,
    handlers: { render: ({ payload }) => ran.push(payload) }
  })
  await until(scheduler, ended)
  assert.deepStrictEqual(ran, ["first", "later"])
})

it("enqueues ticks until the schedules are closed, or their signal aborts", async () => {
  vi.useFakeTimers({ now: new Date("2030-01-01T00:00:30Z"), toFake: ["Date", "setTimeout", "clearTimeout"] })
  try {
    await using scheduler = await createScheduler({ memory: true })
    const ticks: Array<string> = []
    const each = (name: string) => ({
      ...ada,
      name,
      cron: "* * * * *",
      payload: (tick: Date) => ticks.push(`${name} ${tick.toISOString().slice(11, 16)}`)
    })
    const end = new AbortController()
    const closed = await scheduler.schedule({ schedules: [each("closed")] })
    await using _ = await scheduler.schedule({ schedules: [each("aborted")], signal: end.signal })
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(ticks.toSorted(), ["aborted 00:01", "closed 00:01"])
    await closed.close()
    await vi.advanceTimersByTimeAsync(60_000)
    assert.deepStrictEqual(ticks.slice(2), ["aborted 00:02"])
    end.abort()
    await vi.advanceTimersByTimeAsync(60_000)
    assert.strictEqual(ticks.length, 3)
  } finally {
    vi.useRealTimers()
  }
})

it("rejects invalid schedules", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const schedule = { ...ada, name: "nightly", cron: "0 3 * * *", payload: (tick: Date) => tick.toISOString() }
  const invalid = [
    [{ ...schedule, cron: "never" }],
    [{ ...schedule, timeZone: "Mars/Olympus" }],
    [{ ...schedule, catchUp: 0 }],
    [{ ...schedule, priority: -1 }],
    [schedule, schedule]
  ]
  for (const schedules of invalid) {
    const error = await scheduler.schedule({ schedules }).catch((error: unknown) => error)
    assert.instanceOf(error, Error)
  }
})

it("throws a typed error for each refusal", async () => {
  await using scheduler = await createScheduler({ memory: true, waitingMax: 0 })
  const { job } = await scheduler.enqueue({ ...ada, payload: null })
  const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error)
  const full = await refusal(scheduler.enqueue({ ...ada, payload: null }))
  assert.instanceOf(full, QueueFullError)
  assert.deepInclude(full, { code: "queue_full", group: "ada", waiting: 0, max: 0 })
  assert.instanceOf(await refusal(scheduler.checkRoom(ada)), QueueFullError)
  const apart = { lane: "bob/render", group: "bob", cap: 1, kind: "render", payload: null, unique: { key: "once" } }
  const holder = await scheduler.enqueue(apart)
  const duplicate = await refusal(scheduler.enqueue(apart))
  assert.instanceOf(duplicate, DuplicateJobError)
  assert.deepInclude(duplicate, { code: "duplicate_job", group: "bob", key: "once", job: holder.job })
  await scheduler.cancel(holder)
  const started = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  await scheduler.work({
    name: "worker-1",
    handlers: {
      render: async (_job, { settle }) => {
        started.resolve()
        await finish.promise
        await settle()
        assert.instanceOf(await refusal(settle()), LeaseLostError)
      }
    }
  })
  await started.promise
  assert.instanceOf(await refusal(scheduler.cancel({ job })), AlreadyRunningError)
  finish.resolve()
  await until(scheduler, ended)
  const unknown = await refusal(scheduler.cancel({ job }))
  assert.instanceOf(unknown, JobNotFoundError)
  assert.deepInclude(unknown, { code: "job_not_found", job })
})

it("passes `failed` the reason why a job has failed, again until it succeeds, and ends the job", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const reasons: Array<unknown> = []
  const signals: Array<boolean> = []
  await scheduler.work({
    name: "worker-1",
    handlers: {
      broken: {
        run: () => Promise.reject(new Error("no paint")),
        failed: (_job, reason) => {
          reasons.push(reason)
          if (reasons.length === 1) throw new Error("the database is unavailable")
        }
      },
      slow: {
        run: (_job, { signal }) =>
          new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => {
              signals.push(signal.aborted)
              resolve()
            })
          ),
        failed: (_job, reason) => reasons.push(reason)
      }
    }
  })
  await scheduler.enqueue({ ...ada, kind: "broken", payload: null })
  await until(scheduler, ended)
  assert.deepStrictEqual(reasons.map(String), ["Error: no paint", "Error: no paint"])
  await scheduler.enqueue({ ...ada, kind: "slow", payload: null, timeLimit: 1 })
  await until(scheduler, ended)
  assert.instanceOf(reasons[2], TimeLimitExceededError)
  assert.deepInclude(reasons[2], { code: "time_limit_exceeded" })
  assert.deepStrictEqual(signals, [true])
})

it("waits for running jobs when it closes, and returns the others to the queue with their checkpoints", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const aborted = Promise.withResolvers<void>()
  const stored = Promise.withResolvers<void>()
  const controller = new AbortController()
  const first = await scheduler.work({
    name: "worker-1",
    grace: 0,
    signal: controller.signal,
    handlers: {
      render: async (_job, { checkpoint, signal }) => {
        await checkpoint({ frames: 12 })
        signal.addEventListener("abort", () => aborted.resolve())
        stored.resolve()
        await aborted.promise
        throw new Error("ended because of the signal")
      }
    }
  })
  const { job } = await scheduler.enqueue({ ...ada, payload: null })
  await stored.promise
  controller.abort()
  await first.close()
  assert.deepInclude((await scheduler.find([job]))[0], { state: "queued" })
  const resumed = Promise.withResolvers<unknown>()
  const finish = Promise.withResolvers<void>()
  const second = await scheduler.work({
    name: "worker-2",
    handlers: {
      render: async ({ checkpoint }) => {
        resumed.resolve(checkpoint)
        await finish.promise
      }
    }
  })
  assert.deepStrictEqual(await resumed.promise, { frames: 12 })
  const closed = second.close()
  finish.resolve()
  await closed
  assert.deepStrictEqual(await scheduler.find([job]), [])
})

it("runs jobs of a pool only on workers that serve it", async () => {
  await using scheduler = await createScheduler({ memory: true })
  await scheduler.enqueue({ ...ada, cap: 2, pool: "gpu", payload: "gpu" })
  const ran: Array<unknown> = []
  const run = ({ payload }: Job) => ran.push(payload)
  await using _plain = await scheduler.work({ name: "plain", handlers: { render: run } })
  await scheduler.enqueue({ ...ada, cap: 2, payload: "any" })
  await until(scheduler, (states) => states.length === 1)
  assert.deepStrictEqual(ran, ["any"])
  await using _gpu = await scheduler.work({ name: "gpu", handlers: { render: { run, pools: ["gpu"] } } })
  await until(scheduler, ended)
  assert.deepStrictEqual(ran, ["any", "gpu"])
})

it("gives the metrics of its workers the prefix of the program", async () => {
  const registry = Layer.succeed(Metric.MetricRegistry, new Map())
  await using scheduler = await createScheduler({ memory: true, telemetry: registry, metricPrefix: "shop_" })
  await using _ = await scheduler.work({
    name: "worker-1",
    concurrency: 3,
    handlers: { render: () => Promise.resolve() }
  })
  const metrics = await Effect.runPromise(Effect.provide(Metric.snapshot, registry))
  assert.deepStrictEqual(metrics.map(({ id }) => id), ["shop_worker_slots"])
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using scheduler = await createScheduler({ memory: true })
  const wrong = [
    ["enqueue", { lane: "ada", group: "ada", kind: "render", payload: null, cap: "1" }, "cap of enqueue"],
    ["setCap", {}, "lane of setCap"],
    ["find", [1], "item 0 of find"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(scheduler, method), scheduler, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
