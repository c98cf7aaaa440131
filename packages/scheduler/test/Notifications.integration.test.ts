/** Jobs of other processes start because of notifications: no worker here polls. */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgPool, PgProgram, TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createScheduler, type CreateSchedulerOptions, type Scheduler } from "../src/promise.ts"
import { startsJobsOfOthers } from "./NotificationsStory.ts"

/** Each job has a lane of its own, since the end of a job wakes the workers for the queued jobs of its lane. */
const commandOf = (payload: string) => ({ lane: payload, group: "ada", cap: 100, kind: "render", payload })

/** Starts a worker that never polls, and returns what it ran, in order. */
const startWorker = async (scheduler: Scheduler) => {
  const ran: Array<unknown> = []
  let resume = () => {}
  const worker = await scheduler.work({
    name: "worker-1",
    pollInterval: "1 hour",
    lease: "1 hour",
    handlers: {
      render: ({ payload }) => {
        ran.push(payload)
        resume()
      }
    }
  })
  const until = async (count: number) => {
    while (ran.length < count) {
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
    return ran
  }
  return { worker, until }
}

describe("createScheduler", () => {
  let program: PgProgram.PgProgram
  beforeAll(async () => {
    program = await PgProgram.open()
  })
  afterAll(() => program.close())

  /** The sessions that listen, by their last statement. */
  const listening = async (): Promise<ReadonlyArray<{ readonly pid: number; readonly query: string }>> =>
    (await program.pool.query<{ pid: number; query: string }>(
      "SELECT pid, query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )).rows

  const untilListening = async (isWanted: (pids: ReadonlyArray<number>) => boolean) => {
    for (;;) {
      const pids = (await listening()).map(({ pid }) => pid)
      if (isWanted(pids)) return pids
    }
  }

  const storages: ReadonlyArray<readonly [string, () => CreateSchedulerOptions]> = [
    ["a pool", () => ({ pool: program.pool })],
    ["a pool, in a schema", () => ({ pool: program.pool, schema: "apart" })],
    ["a URL", () => ({ url: program.url })]
  ]
  for (const [name, storageOf] of storages) {
    it(`starts jobs of other processes and of transactions of its own, after the commit, on ${name}`, async () => {
      const storage = storageOf()
      await using here = await createScheduler(storage)
      await using there = await createScheduler({ url: program.url, ..."schema" in storage && { schema: "apart" } })
      const { until, worker } = await startWorker(here)
      await untilListening((pids) => pids.length === 1)
      await there.enqueue(commandOf("from there"))
      assert.deepStrictEqual(await until(1), ["from there"])

      await program.inTransaction(async (tx) => {
        await here.enqueue({ ...commandOf("undone"), tx })
        throw new Error("rolled back")
      }).catch(() => {})
      await program.inTransaction((tx) => there.enqueue({ ...commandOf("in a transaction there"), tx }))
      await until(2)
      await program.inTransaction((tx) => here.enqueue({ ...commandOf("in a transaction here"), tx }))
      assert.deepStrictEqual(await until(3), ["from there", "in a transaction there", "in a transaction here"])
      // The worker does not wait until it polls either for a job that becomes due.
      await there.enqueue({ ...commandOf("delayed there"), delay: "50 millis" })
      assert.deepStrictEqual((await until(4)).slice(3), ["delayed there"])

      await worker.close()
      await untilListening((pids) => pids.length === 0)
    })
  }
  it("starts jobs that were enqueued while the connection was lost, and later ones", async () => {
    await using here = await createScheduler({ pool: program.pool })
    await using there = await createScheduler({ url: program.url })
    const { until, worker } = await startWorker(here)
    const lost = await untilListening((pids) => pids.length === 1)
    await program.pool.query("SELECT pg_terminate_backend($1)", [lost[0]])
    await there.enqueue(commandOf("meanwhile"))
    await until(1)
    await untilListening((pids) => pids.length === 1 && pids[0] !== lost[0])
    await there.enqueue(commandOf("later"))
    assert.deepStrictEqual(await until(2), ["meanwhile", "later"])
    await worker.close()
  })

  it("starts jobs that the worker of another process returns when it closes", async () => {
    await using here = await createScheduler({ pool: program.pool })
    await using there = await createScheduler({ url: program.url })
    const started = Promise.withResolvers<void>()
    const leaving = await there.work({
      name: "leaving",
      concurrency: 1,
      grace: 0,
      handlers: {
        render: async (_job, { signal }) => {
          started.resolve()
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          throw new Error("ended because of the signal")
        }
      }
    })
    await there.enqueue(commandOf("returned"))
    await started.promise
    const { until, worker } = await startWorker(here)
    // Afterwards the worker is idle, and has claimed for the last time because of its connection.
    await untilListening((pids) => pids.length === 2)
    await there.enqueue(commandOf("before"))
    await until(1)
    await leaving.close()
    assert.deepStrictEqual(await until(2), ["before", "returned"])
    await worker.close()
  })

  it("sends one notification per transaction, on a channel of the schema, and none with `notify: false`", async () => {
    await using here = await createScheduler({ pool: program.pool })
    await using apart = await createScheduler({ pool: program.pool, schema: "apart" })
    await using silent = await createScheduler({ pool: program.pool, notify: false })
    const client = await program.pool.connect()
    const heard: Array<string> = []
    client.on("notification", ({ channel }) => void heard.push(channel))
    const channels = await Promise.all(
      ["scheduler_job", "apart.scheduler_job"].map(async (table) => {
        const { rows } = await client.query("SELECT 'kinora_' || $1::regclass::oid AS channel", [table])
        return String(rows[0].channel)
      })
    )
    for (const channel of channels) await client.query(`LISTEN ${channel}`)
    for (const scheduler of [silent, here, apart]) {
      await program.inTransaction(async (tx) => {
        for (const payload of ["1", "2", "3"]) await scheduler.enqueue({ ...commandOf(payload), kind: "counted", tx })
      })
    }
    // Notifications arrive in the order of the commits, and before the response to a later statement.
    await client.query("SELECT 1")
    client.release(true)
    assert.deepStrictEqual(heard, channels)
  })

  it("names the kinds of the jobs, so that other builds understand it, and no kinds whose names are too long", async () => {
    await using scheduler = await createScheduler({ pool: program.pool })
    const client = await program.pool.connect()
    const heard: Array<string> = []
    client.on("notification", ({ payload }) => void heard.push(payload!))
    const { rows: [row] } = await client.query("SELECT 'kinora_' || 'scheduler_job'::regclass::oid AS channel")
    await client.query(`LISTEN ${row.channel}`)
    const lane = { lane: "named", group: "named", cap: 100, payload: "1" }
    await scheduler.enqueue({ ...lane, kind: "named", pool: "a" })
    await program.inTransaction(async (tx) => {
      for (const kind of ["b", "a", "b"]) await scheduler.enqueue({ ...lane, kind, tx })
    })
    // Commands of the same moment are one unit.
    const long = Array.from({ length: 70 }, (_, n) => `${n}-${"名".repeat(120)}`)
    await Promise.all(
      long.map((kind, n) => scheduler.enqueue({ ...lane, lane: `long-${n}`, group: `long-${n}`, kind }))
    )
    await client.query("SELECT 1")
    client.release(true)
    const [named, ...others] = heard
    const { from, kinds } = JSON.parse(named!)
    assert.deepStrictEqual(kinds, ["named:a"])
    // An earlier build wakes its workers for each payload that is not its own id.
    assert.match(from, /^[0-9a-f-]{36}$/)
    assert.deepStrictEqual(others.slice(0, 2), [
      "{\"from\":\"\",\"kinds\":[\"b\"]}",
      "{\"from\":\"\",\"kinds\":[\"a\"]}"
    ])
    // Without kinds, the payload is the sender, as that of an earlier build.
    assert.include(others.slice(2), from)
  })

  it("starts jobs that an earlier build announces, which names no kinds", async () => {
    await using here = await createScheduler({ pool: program.pool })
    await using silent = await createScheduler({ pool: program.pool, notify: false })
    const { until, worker } = await startWorker(here)
    await untilListening((pids) => pids.length === 1)
    const { rows: [row] } = await program.pool.query("SELECT 'kinora_' || 'scheduler_job'::regclass::oid AS channel")
    const payloads = ["", "ba42c1cb-9ac5-4a4c-8e6b-5ac10d4c1f3c"]
    for (const [index, payload] of payloads.entries()) {
      await silent.enqueue(commandOf(`of an earlier build ${index}`))
      await program.pool.query("SELECT pg_notify($1, $2)", [row.channel, payload])
      await until(index + 1)
    }
    await worker.close()
  })

  it("leaves the only connection of a pool to its statements", async () => {
    const pool = PgPool.make(program.url, 1)
    const scheduler = await createScheduler({ pool, schema: "single" })
    const { until } = await startWorker(scheduler)
    await scheduler.enqueue(commandOf("alone"))
    assert.deepStrictEqual(await until(1), ["alone"])
    await scheduler.close()
    await pool.end()
  })

  it("leaves a connection of a pool to the statements of several schedulers, which poll", async () => {
    const pool = PgPool.make(program.url, 2)
    const first = await createScheduler({ pool, schema: "first" })
    const second = await createScheduler({ pool, schema: "second" })
    const [ofFirst, ofSecond] = [await startWorker(first), await startWorker(second)]
    await untilListening((pids) => pids.length === 1)
    await first.enqueue(commandOf("one"))
    await second.enqueue(commandOf("two"))
    assert.deepStrictEqual([await ofFirst.until(1), await ofSecond.until(1)], [["one"], ["two"]])
    await first.close()
    await second.close()
    await pool.end()
  })

  it("does not listen with `listen: false`", async () => {
    await using scheduler = await createScheduler({ pool: program.pool, listen: false })
    const { until, worker } = await startWorker(scheduler)
    await scheduler.enqueue(commandOf("own"))
    await until(1)
    assert.deepStrictEqual(await listening(), [])
    await worker.close()
  })
})

it.effect("starts jobs of other processes with layerPostgres", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const client = () => Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 4 }))
    yield* startsJobsOfOthers(client(), client())
  }).pipe(Effect.scoped, TestClock.withLive))
