import { createScheduler } from "@kinora/scheduler/promise"

const url = process.env["DATABASE_URL"] ?? "postgres://localhost/scenes"

// One process runs jobs. It waits for notifications on one connection of its pool.
const renderer = await createScheduler({ url })
const rendered = Promise.withResolvers<unknown>()
await renderer.work({
  name: "worker-1",
  pollInterval: "1 hour",
  handlers: { render: ({ payload }) => rendered.resolve(payload) }
})

// Another process enqueues them.
const website = await createScheduler({ url })
await website.enqueue({ lane: "ada/render", group: "ada", cap: 1, kind: "render", payload: { scene: "dawn" } })
console.log(await rendered.promise) // { scene: 'dawn' }

await website.close()
await renderer.close()
