import { createScheduler } from "@kinora/scheduler/promise"

class PrinterBusy extends Error {}

const scheduler = await createScheduler({ memory: true })
const ended = Promise.withResolvers<void>()
await scheduler.work({
  name: "worker-1",
  handlers: {
    print: {
      run: ({ failures }) => {
        throw new PrinterBusy(`busy for the ${failures + 1}. time`)
      },
      retry: { attempts: 3, backoff: (failures) => failures * 10, on: PrinterBusy },
      failed: ({ failures }, reason) => {
        console.log(failures, String(reason)) // 2 Error: busy for the 3. time
        ended.resolve()
      }
    }
  }
})
await scheduler.enqueue({ lane: "ada/print", group: "ada", cap: 1, kind: "print", payload: null })
await ended.promise
await scheduler.close()
