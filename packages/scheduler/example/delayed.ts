import { createScheduler, type Job } from "@kinora/scheduler/promise"

const scheduler = await createScheduler({ memory: true })
const ada = { lane: "ada/mail", group: "ada", cap: 1, kind: "reminder" }

// In an hour, and one that is cancelled before it is due.
const reminder = await scheduler.enqueue({ ...ada, delay: "1 hour", payload: { text: "Your render expires today" } })
console.log(reminder.state) // delayed
console.log((await scheduler.cancel({ job: reminder.job })).state) // delayed

// At a time.
await scheduler.enqueue({ ...ada, runAt: new Date(Date.now() + 50), payload: { text: "Your render is ready" } })
// A delayed job takes no slot: this one does not wait for it.
const immediate = await scheduler.enqueue({ ...ada, payload: { text: "Your render has started" } })
console.log(immediate.state) // queued

const sent = Promise.withResolvers<void>()
await scheduler.work({
  name: "worker-1",
  handlers: {
    reminder: ({ payload }: Job<{ readonly text: string }>) => {
      console.log(payload.text) // Your render has started, Your render is ready
      if (payload.text.includes("ready")) sent.resolve()
    }
  }
})
await sent.promise
await scheduler.close()
