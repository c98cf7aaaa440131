/** The ledger of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import {
  createLedger,
  IndivisibleChargeError,
  QuotaExceededError,
  RefundExceedsChargeError,
  UnknownLotError
} from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

it("charges credits and quotas, and ends with `await using`", async () => {
  await using ledger = await createLedger({ memory: true })
  const account = "ada"
  const { lot } = await ledger.grant({ account, reference: "start", kind: "trial", credits: 10, expiresAt })
  await ledger.check({ account, credits: 10, trialAllowed: true })
  await ledger.charge({ account, reference: "job", credits: 10, trialAllowed: true })
  const quota = { kind: "image", limit: 1 }
  const counted = await ledger.charge({ account, reference: "still", quota })
  assert.deepInclude(counted, { _tag: "ChargedQuota", kind: "image", used: 1 })
  const error = await ledger.charge({ account, reference: "more", quota }).catch((error: unknown) => error)
  assert.instanceOf(error, QuotaExceededError)
  assert.deepInclude(error, { name: "QuotaExceededError", code: "quota_exceeded", limit: 1, used: 1 })
  assert.strictEqual(error.resetsAt.getTime() % 86_400_000, 0)
  assert.deepStrictEqual((await ledger.balances({ account })).quotaUsed, new Map([["image", 1]]))
  assert.deepStrictEqual(await ledger.revoke({ account, lot: lot.id }), { credits: 0 })
  const [last] = await ledger.entries({ account, limit: 1 })
  assert.strictEqual((await ledger.entries({ account, before: last!.id })).length, 2)
})

it("refunds parts of a charge, and throws typed errors for parts that it refuses", async () => {
  await using ledger = await createLedger({ memory: true })
  const account = "ada"
  const { lot } = await ledger.grant({ account, reference: "start", kind: "plan", credits: 10, expiresAt })
  await ledger.charge({ account, reference: "job", credits: 8 })
  await ledger.charge({ account, reference: "still", quota: { kind: "image", limit: 1 } })
  const refund = (reference: string, part?: { readonly reference: string; readonly credits: number }) =>
    ledger.refund({ account, reference, part }).catch((error: unknown) => error)
  const parts = [{ lot: lot.id, credits: 3 }]
  assert.deepStrictEqual(await refund("job", { reference: "a", credits: 3 }), { _tag: "Refunded", credits: 3, parts })
  assert.deepStrictEqual(await refund("job", { reference: "a", credits: 3 }), { _tag: "AlreadyRefunded" })
  const excessive = await refund("job", { reference: "b", credits: 6 })
  assert.instanceOf(excessive, RefundExceedsChargeError)
  assert.deepInclude(excessive, { code: "refund_exceeds_charge", reference: "job", credits: 6, refundable: 5 })
  const indivisible = await refund("still", { reference: "a", credits: 1 })
  assert.instanceOf(indivisible, IndivisibleChargeError)
  assert.deepInclude(indivisible, { code: "indivisible_charge", reference: "still" })
  assert.deepInclude(await refund("job"), { _tag: "Refunded", credits: 5 })
  assert.deepStrictEqual((await ledger.entries({ account, reference: "job" })).map(({ kind, part }) => [kind, part]), [
    ["refund", undefined],
    ["refund", "a"],
    ["charge", undefined]
  ])
  assert.strictEqual((await ledger.balances({ account })).credits, 10)
})

it("rejects ids of other things, and lots of other accounts", async () => {
  await using ledger = await createLedger({ memory: true })
  const { lot } = await ledger.grant({ account: "ada", reference: "start", kind: "plan", credits: 10, expiresAt })
  const rejection = (call: Promise<unknown>) => call.then(() => "", String)
  assert.match(await rejection(ledger.revoke({ account: "ada", lot: "lot" })), /TypeError: Expected the id of a lot/)
  assert.match(
    await rejection(ledger.entries({ account: "ada", before: lot.id })),
    /TypeError: Expected the id of a trans/
  )
  const error = await ledger.revoke({ account: "bob", lot: lot.id }).catch((error: unknown) => error)
  assert.instanceOf(error, UnknownLotError)
})

it("rejects a transaction, which memory cannot join, and a call whose signal has aborted", async () => {
  await using ledger = await createLedger({ memory: true })
  const command = { account: "ada", reference: "job", credits: 0 }
  const tx = { query: () => Promise.reject(new Error("unused")) }
  const joined = await ledger.charge({ ...command, tx }).catch((error: unknown) => error)
  assert.match(String(joined), /TypeError: A service outside of the database cannot join a transaction/)
  const signal = AbortSignal.abort(new Error("ended"))
  assert.match(String(await ledger.charge({ ...command, signal }).catch((error: unknown) => error)), /ended/)
  assert.deepStrictEqual(await ledger.entries({ account: "ada" }), [])
})
