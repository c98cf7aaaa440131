import { SchemaContract } from "@kinora/testkit"
import { createApiKeys } from "../src/promise.ts"

SchemaContract.suite("createApiKeys", {
  create: createApiKeys,
  use: async (keys, tx) => {
    const owner = tx === undefined ? "ada" : "eve"
    const { key, record: { id } } = await keys.create({ owner, name: "laptop", metadata: { tier: 1 }, tx })
    const rolled = await keys.roll({ owner, id, overlap: "1 hour", tx })
    await keys.rename({ owner, id: rolled.record.id, name: "desktop", tx })
    const verified = await keys.verify({ key, tx })
    await keys.revoke({ owner, id, tx })
    const listed = await keys.list({ owner, tx })
    return [verified?.name, ...listed.map(({ name }) => name), await keys.revokeAll({ owner, tx })]
  }
})
