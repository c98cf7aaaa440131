import { createScheduler } from "@kinora/scheduler/promise"

// The tables are "work".scheduler_job and so on, whatever the search_path of the connection is.
const scheduler = await createScheduler({ url: process.env["DATABASE_URL"]!, schema: "work" })
const command = { lane: "ada/render", group: "ada", cap: 1, kind: "render", payload: null }
console.log((await scheduler.enqueue(command)).state) // queued
console.log((await scheduler.enqueue(command)).state) // pending
await scheduler.close()
