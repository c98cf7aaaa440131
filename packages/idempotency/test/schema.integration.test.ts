import { SchemaContract } from "@kinora/testkit"
import { createIdempotency } from "../src/promise.ts"

SchemaContract.suite("createIdempotency", {
  create: createIdempotency,
  use: async (idempotency, tx) => {
    const claim = { scope: tx === undefined ? "ada" : "eve", key: "k-1", body: null, reference: "order-1", tx }
    const first = await idempotency.once(claim, () => "done")
    const second = await idempotency.once(claim, () => "done")
    return [first._tag, second._tag, (await idempotency.find(claim))._tag]
  }
})
