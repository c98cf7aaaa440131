/** The scheduler of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createScheduler, LeaseLostError, type Scheduler, StorageFailedError } from "../src/promise.ts"

describe("createScheduler with a pool", () => {
  let program: PgProgram.PgProgram
  let scheduler: Scheduler
  beforeAll(async () => {
    program = await PgProgram.open()
    scheduler = await createScheduler({ pool: program.pool, waitingMax: PgProgram.requestsMax })
    await program.pool.query("CREATE TABLE result (id text PRIMARY KEY)")
  })
  afterAll(async () => {
    await scheduler.close()
    await program.close()
  })

  const commandOf = (id: string) => ({
    lane: `crowd/${Number(id) % 10}`,
    group: `crowd/${Number(id) % 10}`,
    cap: 4,
    kind: "crowd",
    payload: id
  })

  /** Collects values, and waits for a number of them. */
  const collect = <A>(count: number) => {
    const values: Array<A> = []
    const all = Promise.withResolvers<void>()
    const add = (value: A) => {
      if (values.push(value) === count) all.resolve()
    }
    return { values, add, all: all.promise }
  }

  it("is consistent with the rows of 600 requests of which a quarter rolls back, and with the results of their jobs", async () => {
    await program.request((id, tx) => scheduler.enqueue({ ...commandOf(id), tx }))
    const { rows } = await program.pool.query(`
      SELECT count(*)::int AS count, count(*) FILTER (WHERE work.id IS NULL OR payload IS NULL)::int AS inconsistent
      FROM work FULL JOIN scheduler_job ON payload #>> '{}' = work.id
    `)
    assert.deepStrictEqual(rows, [{ count: PgProgram.requestsCommitted, inconsistent: 0 }])
    assert.deepStrictEqual(await scheduler.verify(), [])

    const done = collect<unknown>(PgProgram.requestsCommitted)
    const failed: Array<unknown> = []
    const worker = await scheduler.work({
      name: "worker-1",
      concurrency: 10,
      // A job that ends in a transaction of the program wakes the worker for the next one of its lane.
      pollInterval: "1 hour",
      handlers: {
        crowd: {
          run: async ({ payload }, { settle }) => {
            await program.inTransaction(async (tx) => {
              await tx.query("INSERT INTO result VALUES ($1)", [payload])
              await settle({ tx })
              if (Number(payload) % 3 === 0) throw new Error("rolled back")
            })
            done.add(payload)
          },
          failed: ({ payload }) => {
            failed.push(payload)
            done.add(payload)
          }
        }
      }
    })
    await done.all
    await worker.close()
    const results = await program.pool.query<{ id: string }>("SELECT id FROM result")
    const work = await program.pool.query<{ id: string }>("SELECT id FROM work")
    const isUndone = ({ id }: { readonly id: string }) => Number(id) % 3 === 0
    assert.sameDeepMembers(results.rows, work.rows.filter((row) => !isUndone(row)))
    assert.sameMembers(failed, work.rows.filter(isUndone).map(({ id }) => id))
    assert.strictEqual((await scheduler.queues()).length, 0)
    assert.deepStrictEqual(await scheduler.verify(), [])
  })

  it("runs a job of a rolled back transaction never, and one of a committed transaction after `wake`", async () => {
    const ran = collect<unknown>(1)
    await using _worker = await scheduler.work({
      name: "worker-1",
      pollInterval: "1 hour",
      handlers: { late: ({ payload }) => ran.add(payload) }
    })
    const command = { ...commandOf("1"), kind: "late" }
    const undone = program.inTransaction(async (tx) => {
      await scheduler.enqueue({ ...command, payload: "undone", tx })
      throw new Error("rolled back")
    })
    assert.match(String(await undone.catch((error: unknown) => error)), /rolled back/)
    await program.inTransaction((tx) => scheduler.enqueue({ ...command, payload: "committed", tx }))
    await scheduler.wake()
    await ran.all
    assert.deepStrictEqual(ran.values, ["committed"])
  })

  it("aborts the run of a job that was taken from its worker, which cannot settle it any more", async () => {
    const runs = collect<string>(3)
    const started = Promise.withResolvers<void>()
    await using _worker = await scheduler.work({
      name: "worker-1",
      lease: "400 millis",
      handlers: {
        taken: async ({ attempt }, { settle, signal }) => {
          if (runs.values.length > 0) return runs.add(`attempt ${attempt}`)
          runs.add("first")
          const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
          started.resolve()
          await aborted
          const error = await settle().catch((error: unknown) => error)
          runs.add(error instanceof LeaseLostError ? error.code : "settled")
        }
      }
    })
    const { job } = await scheduler.enqueue({ ...commandOf("1"), cap: 1, kind: "taken" })
    await started.promise
    assert.isTrue(await scheduler.requeue({ job }))
    await runs.all
    assert.sameMembers(runs.values, ["first", "lease_lost", "attempt 1"])
  })

  it("enqueues each tick once in two processes that have missed the same ticks", async () => {
    await program.pool.query(
      "INSERT INTO scheduler_schedule VALUES ('minutely', date_trunc('minute', now()) - interval '5 minutes')"
    )
    await using other = await createScheduler({ url: program.url })
    const ran = collect<unknown>(5)
    await using _worker = await scheduler.work({
      name: "worker-1",
      handlers: { tick: ({ payload }) => ran.add(payload) }
    })
    const schedule = {
      ...commandOf("1"),
      cap: 100,
      name: "minutely",
      cron: "* * * * *",
      catchUp: 100,
      kind: "tick",
      payload: (tick: Date) => tick.getTime() / 60_000
    }
    const both = await Promise.all([scheduler, other].map((process) => process.schedule({ schedules: [schedule] })))
    await ran.all
    await Promise.all(both.map(({ close }) => close()))
    const ticks = ran.values.map(Number)
    assert.strictEqual(new Set(ticks).size, ticks.length)
    const first = Math.min(...ticks)
    assert.sameMembers(ticks.slice(0, 5), [first, first + 1, first + 2, first + 3, first + 4])
  })

  it("shares jobs with other processes, and throws a typed error for a client without a transaction", async () => {
    const byUrl = await createScheduler({ url: program.url })
    const { job } = await byUrl.enqueue({ ...commandOf("1"), kind: "shared" })
    const [worker] = await scheduler.workers({ limit: 10 })
    assert.isUndefined(worker)
    assert.deepInclude((await scheduler.find([job]))[0], { kind: "shared", state: "queued" })
    assert.deepInclude(await scheduler.cancel({ job }), { job, state: "queued" })
    await byUrl.close()
    const client = await program.pool.connect()
    const error = await scheduler.enqueue({ ...commandOf("2"), tx: client }).catch((error: unknown) => error)
    client.release()
    assert.instanceOf(error, StorageFailedError)
  })

  it("leaves no row of a forgotten group, in the transaction of the program, nor after a late settlement", async () => {
    const group = "ada@example.com"
    const command = { lane: `${group}/jobs`, group, cap: 1, kind: "of-ada", payload: { note: group } }
    const begun = Promise.withResolvers<void>()
    const settled = Promise.withResolvers<unknown>()
    const forgotten = Promise.withResolvers<void>()
    for (const delay of [undefined, undefined, "1 hour"] as const) await scheduler.enqueue({ ...command, delay })
    const worker = await scheduler.work({
      name: "of-ada",
      handlers: {
        "of-ada": {
          run: async (_, { settle }) => {
            begun.resolve()
            await forgotten.promise
            settled.resolve(await settle().catch((error: unknown) => error))
          },
          failed: () => false
        }
      }
    })
    await begun.promise
    const tables = ["group", "lane", "job", "delayed"].map((name) => `scheduler_${name}`)
    const stored = async () => {
      const counts = await Promise.all(
        tables.map((table) =>
          program.pool.query(`SELECT FROM ${table} AS one WHERE strpos(one::text, $1) > 0`, [group])
        )
      )
      return tables.filter((_, n) => counts[n]!.rows.length > 0)
    }
    assert.deepStrictEqual(await stored(), tables)
    const undone = program.inTransaction(async (tx) => {
      assert.deepStrictEqual(await scheduler.forget({ group, abort: true, tx }), { jobs: 3, left: 0 })
      throw new Error("undone")
    })
    assert.match(String(await undone.catch((error: unknown) => error)), /undone/)
    assert.deepStrictEqual(await scheduler.forget({ group, limit: 1 }), { jobs: 2, left: 1 })
    const aborted = await program.inTransaction((tx) => scheduler.forget({ group, abort: true, tx }))
    assert.deepStrictEqual(aborted, { jobs: 1, left: 0 })
    forgotten.resolve()
    assert.instanceOf(await settled.promise, LeaseLostError)
    await worker.close()
    assert.deepStrictEqual(await stored(), [])
    assert.deepStrictEqual(await scheduler.verify(), [])
  })
})
