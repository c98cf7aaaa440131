import { createScheduler, DuplicateJobError } from "@kinora/scheduler/promise"

const scheduler = await createScheduler({ memory: true })

/** Makes sure that the index of an account is going to be built, and returns the job that does it. */
const ensureReindex = async (account: string) => {
  const command = { lane: `${account}/index`, group: account, cap: 1, kind: "reindex", payload: null }
  try {
    const { job } = await scheduler.enqueue({ ...command, unique: { key: "reindex" } })
    return job
  } catch (error) {
    if (error instanceof DuplicateJobError) return error.job
    throw error
  }
}

const first = await ensureReindex("ada")
console.log((await ensureReindex("ada")) === first) // true
console.log((await ensureReindex("bob")) === first) // false

// The key is free when the job has ended.
await scheduler.cancel({ job: first })
console.log((await ensureReindex("ada")) === first) // false
await scheduler.close()
