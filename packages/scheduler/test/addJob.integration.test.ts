/** Jobs that are added in SQL. */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createScheduler, type Job, type Scheduler } from "../src/promise.ts"

for (const schema of [undefined, "jobs"]) {
  describe(`scheduler_add_job in ${schema ?? "the first schema"}`, () => {
    let program: PgProgram.PgProgram
    let scheduler: Scheduler
    const qualified = schema === undefined ? "scheduler_add_job" : `"${schema}".scheduler_add_job`
    beforeAll(async () => {
      program = await PgProgram.open()
      scheduler = await createScheduler({ pool: program.pool, schema })
    })
    afterAll(async () => {
      await scheduler.close()
      await program.close()
    })

    /** Adds a job of a kind to a lane. The arguments that follow are named. */
    const add = async (lane: string, payload: unknown, further = "") => {
      const { rows } = await program.pool.query<{ readonly job: string }>(
        `SELECT ${qualified}(
          kind => 'draw', payload => $1, lane => $2, job_group => split_part($2, '/', 1), cap => 2${further}
        ) AS job`,
        [JSON.stringify(payload), lane]
      )
      return rows[0]!.job
    }

    it("runs jobs that several sessions add to a new lane at once, under its cap", async () => {
      const payloads = Array.from({ length: 40 }, (_, n) => n)
      const seen: Array<unknown> = []
      const all = Promise.withResolvers<void>()
      let running = 0
      let runningMax = 0
      await using worker = await scheduler.work({
        name: "worker-1",
        concurrency: 10,
        handlers: {
          draw: async ({ payload }: Job, { settle }) => {
            runningMax = Math.max(runningMax, ++running)
            await new Promise((resolve) => setImmediate(resolve))
            // Its slot is free from here on.
            running--
            await settle()
            if (seen.push(payload) === payloads.length) all.resolve()
          }
        }
      })
      // 18 jobs wait, 2 run, and the group has no room for the others yet.
      await Promise.all(payloads.map((payload) => add("ada/draw", payload)))
      await all.promise
      assert.deepStrictEqual(seen.toSorted((a, b) => Number(a) - Number(b)), payloads)
      assert.isAtMost(runningMax, 2)
      assert.deepStrictEqual(await scheduler.verify(), [])
      await worker.close()
    })

    it("belongs to the transaction of the program", async () => {
      const tx = await program.pool.connect()
      await tx.query("BEGIN")
      const { rows } = await tx.query<{ readonly job: string }>(
        `SELECT ${qualified}('draw', 'null', 'eve/draw', 'eve', 1) AS job`
      )
      const { job } = rows[0]!
      assert.deepStrictEqual((await scheduler.find([job], { tx })).map(({ state }) => state), ["delayed"])
      await tx.query("ROLLBACK")
      tx.release()
      assert.deepStrictEqual(await scheduler.find([job]), [])
    })

    it("adds a job with an id once, at a time, with its limits", async () => {
      const id = crypto.randomUUID()
      const further =
        `, job => '${id}', run_at => '2099-01-01T00:00:00Z', attempts_max => 5, time_limit => '90 s', waiting_max => 7`
      assert.deepStrictEqual([await add("max/draw", 1, further), await add("max/draw", 2, further)], [id, id])
      const found = await scheduler.find([id])
      assert.deepStrictEqual(
        found.map(({ dueAt, group, lane, state }) => ({ dueAt, group, lane, state })),
        [{ dueAt: new Date("2099-01-01T00:00:00Z"), group: "max", lane: "max/draw", state: "delayed" }]
      )
      const table = schema === undefined ? "scheduler_delayed" : `"${schema}".scheduler_delayed`
      const { rows } = await program.pool.query(
        `SELECT payload, attempts_max, time_limit_ms::int4, waiting_max FROM ${table} WHERE id = $1`,
        [id]
      )
      assert.deepStrictEqual(rows, [{ payload: 1, attempts_max: 5, time_limit_ms: 90_000, waiting_max: 7 }])

      // A job that is no longer delayed is not added again either.
      const { job } = await scheduler.enqueue({ lane: "max/draw", group: "max", cap: 2, kind: "draw", payload: 3 })
      assert.strictEqual(await add("max/draw", 4, `, job => '${job}'`), job)
      assert.deepStrictEqual((await scheduler.find([job])).map(({ state }) => state), ["queued"])
      assert.deepStrictEqual(await scheduler.verify(), [])
    })

    it("adds a job with a text as its id once, under the key that other calls look for", async () => {
      for (const [n, text] of ["order 1", "Größe/🎬", "O'Hara", "x".repeat(255), "🎬".repeat(255)].entries()) {
        const further = `, job => '${text.replaceAll("'", "''")}'`
        assert.strictEqual(await add("zoe/draw", n, `${further}, run_at => '2099-01-01T00:00:00Z'`), text)
        assert.strictEqual(await add("zoe/draw", 9, further), text)
        assert.deepStrictEqual((await scheduler.find([text])).map(({ job, state }) => [job, state]), [[
          text,
          "delayed"
        ]])
        assert.deepInclude(await scheduler.cancel({ job: text }), { job: text, state: "delayed" })
        // Neither is a job that is no longer delayed added again.
        await scheduler.enqueue({ lane: "zoe/draw", group: "zoe", cap: 9, kind: "draw", payload: n, job: text })
        assert.strictEqual(await add("zoe/draw", 9, further), text)
        assert.deepStrictEqual((await scheduler.find([text])).map(({ state }) => state), ["queued"])
      }
      // A UUID is the same in any case.
      const id = crypto.randomUUID()
      assert.strictEqual(await add("zoe/draw", 1, `, job => '${id.toUpperCase()}'`), id)
      assert.deepStrictEqual((await scheduler.find([id])).map(({ job }) => job), [id])
      assert.deepStrictEqual(await scheduler.verify(), [])
    })

    it("refuses an id that is empty or too long", async () => {
      for (const id of ["", "x".repeat(256), "🎬".repeat(256)]) {
        const error = await add("ada/draw", 1, `, job => '${id}'`).catch((error: unknown) => error)
        assert.match(String(error), /The id of a job has 1 to 255 characters/)
      }
    })

    it("fails if the lane is forgotten while it waits, and adds the job when it is repeated", async () => {
      await add("lea/draw", 1)
      const adding = await program.inTransaction(async (tx) => {
        assert.deepStrictEqual(await scheduler.forget({ group: "lea", tx }), { jobs: 1, left: 0 })
        const adding = add("lea/draw", 2).catch((error: unknown) => error)
        await vi.waitFor(async () => {
          const { rows } = await program.pool.query(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          )
          assert.strictEqual(rows.length, 1)
        }, { timeout: 30_000, interval: 20 })
        return { adding }
      })
      assert.deepInclude(await adding.adding, { code: "23503" })
      const job = await add("lea/draw", 2)
      assert.deepStrictEqual((await scheduler.find([job])).map(({ group, state }) => [group, state]), [[
        "lea",
        "delayed"
      ]])
      assert.deepStrictEqual(await scheduler.verify(), [])
    })

    it("refuses a lane of another group", async () => {
      await add("ada/draw", 1, ", run_at => '2099-01-01T00:00:00Z'")
      const refused = program.pool.query(`SELECT ${qualified}('draw', 'null', 'ada/draw', 'eve', 1)`)
      const error = await refused.catch((error: unknown) => error)
      assert.instanceOf(error, Error)
      assert.strictEqual(error.message, "The lane ada/draw is of the group ada, not of eve")
    })
  })
}
