import { SchemaContract } from "@kinora/testkit"
import { createScheduler } from "../src/promise.ts"

SchemaContract.suite("createScheduler", {
  create: createScheduler,
  use: async (scheduler, tx) => {
    const lane = tx === undefined ? "ada" : "eve"
    const enqueue = () => scheduler.enqueue({ lane, group: lane, cap: 1, kind: "render", payload: null, tx })
    const first = await enqueue()
    const second = await enqueue()
    await scheduler.cancel({ job: first.job, tx })
    const { promoted } = await scheduler.setCap({ lane, group: lane, cap: 2, tx })
    const found = await scheduler.find([second.job], { tx })
    return [first.state, second.state, promoted.length, found[0]?.state, await scheduler.verify({ tx })]
  }
})
