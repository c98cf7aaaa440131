import { createScheduler, type Job } from "@kinora/scheduler/promise"
import { Pool, type PoolClient } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the tables of the scheduler.
const scheduler = await createScheduler({ pool })
await pool.query("CREATE TABLE scene (id uuid PRIMARY KEY, name text NOT NULL, result text)")

/** Commits what the body writes, or rolls it back. */
const transaction = async (body: (tx: PoolClient) => Promise<unknown>) => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await body(tx)
    await tx.query("COMMIT")
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

// The row and the job are committed together, or neither is.
const id = crypto.randomUUID()
await transaction(async (tx) => {
  await tx.query("INSERT INTO scene VALUES ($1, 'dawn')", [id])
  await scheduler.enqueue({ job: id, lane: "ada/render", group: "ada", cap: 1, kind: "render", payload: { id }, tx })
})

const rendered = Promise.withResolvers<void>()
const worker = await scheduler.work({
  name: "worker-1",
  handlers: {
    render: async ({ payload }: Job<{ readonly id: string }>, { checkpoint, settle }) => {
      // After a crash the next worker continues from the checkpoint.
      await checkpoint({ framesDone: 12 })
      // The result and the end of the job are committed together, or neither is.
      await transaction(async (tx) => {
        await tx.query("UPDATE scene SET result = name || ' is rendered' WHERE id = $1", [payload.id])
        await settle({ tx })
      })
      rendered.resolve()
    }
  }
})

await rendered.promise
// Waits for the running jobs, and returns the others to the queue.
await worker.close()
console.log((await pool.query("SELECT result FROM scene")).rows) // [ { result: 'dawn is rendered' } ]
console.log(await scheduler.find([id])) // []

await scheduler.close()
await pool.end()
