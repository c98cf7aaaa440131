import { SchemaContract } from "@kinora/testkit"
import { createWebhooks } from "../src/promise.ts"

const options = { keys: ["a key of at least thirty-two bytes"], guard: { allowPrivate: true } } as const

SchemaContract.suite("createWebhooks", {
  create: (storage) => createWebhooks({ ...storage, ...options }),
  use: async (webhooks, tx) => {
    const account = tx === undefined ? "ada" : "eve"
    const { endpoint } = await webhooks.create({ account, url: "http://127.0.0.1:9/hooks", tx })
    await webhooks.publish({ account, type: "work.done", data: null, subject: "work-1", tx })
    const deliveries = await webhooks.deliveries({ account, endpoint: endpoint.id, tx })
    const history = await webhooks.history({ account, subject: "work-1", tx })
    return [
      deliveries.map(({ status }) => status),
      history.deliveries.length,
      (await webhooks.list({ account, tx })).length
    ]
  }
})
