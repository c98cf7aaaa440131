import { createScheduler, type Job } from "@kinora/scheduler/promise"

const scheduler = await createScheduler({ memory: true })
const ada = { lane: "ada/render", group: "ada", cap: 1, kind: "render" }

await scheduler.enqueue({ ...ada, payload: "dawn" }) // Gets the slot of the lane.
await scheduler.enqueue({ ...ada, payload: "noon" })
await scheduler.enqueue({ ...ada, payload: "a preview", priority: 10 })

const rendered = Promise.withResolvers<void>()
const scenes: Array<string> = []
await scheduler.work({
  name: "worker-1",
  handlers: {
    render: ({ payload }: Job<string>) => {
      if (scenes.push(payload) === 3) rendered.resolve()
    }
  }
})
await rendered.promise
console.log(scenes) // [ 'dawn', 'a preview', 'noon' ]
await scheduler.close()
