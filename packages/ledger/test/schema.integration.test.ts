import { SchemaContract } from "@kinora/testkit"
import { createLedger } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

SchemaContract.suite("createLedger", {
  create: createLedger,
  use: async (ledger, tx) => {
    const account = tx === undefined ? "ada" : "eve"
    await ledger.grant({ account, reference: "start", kind: "addon", credits: 100, expiresAt, tx })
    await ledger.charge({ account, reference: "job-1", credits: 40, tx })
    await ledger.charge({ account, reference: "job-2", quota: { kind: "image", limit: 1 }, tx })
    await ledger.refund({ account, reference: "job-1", tx })
    const entries = await ledger.entries({ account, tx })
    const { credits } = await ledger.balances({ account, tx })
    return { ...await ledger.verify({ tx }), entries: entries.map(({ kind }) => kind), credits }
  }
})
