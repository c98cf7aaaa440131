/** The ledger of programs without Effect, in memory. */
import { assert, it } from "@effect/vitest"
import {
  AlreadyHeldError,
  CaptureDiffersError,
  CaptureExceedsHoldError,
  createLedger,
  HoldEndedError,
  HoldExpiredError,
  IndivisibleChargeError,
  InsufficientCreditsError,
  QuotaExceededError,
  RefundExceedsChargeError,
  TooManyHoldsError,
  UnknownHoldError,
  UnknownLotError
} from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

it("charges credits and quotas, and ends with `await using`", async () => {
  await using ledger = await createLedger({ memory: true })
  const account = "ada"
  const { lot } = await ledger.grant({ account, reference: "start", kind: "trial", credits: 10, expiresAt })
  await ledger.check({ account, credits: 10, kindsAllowed: ["trial"] })
  await ledger.charge({ account, reference: "job", credits: 10, kindsAllowed: ["trial"] })
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
  const period = { account: "ada", from: new Date(0), to: new Date() }
  assert.match(await rejection(ledger.statement({ ...period, after: lot.id })), /TypeError: Expected the id of a trans/)
  assert.match(await rejection(ledger.statement({ ...period, limit: 0 })), /The limit of a statement must be/)
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

it("holds, captures and releases credits, and throws typed errors for what it refuses", async () => {
  await using ledger = await createLedger({ memory: true, holdsMax: 2, holdLifetimeMax: "1 hour" })
  const account = "ada"
  const { lot } = await ledger.grant({ account, reference: "start", kind: "trial", credits: 10, expiresAt })
  const at = new Date("2030-01-01T00:00:00Z")
  const job = { account, reference: "job", at }
  const trial = { kindsAllowed: ["trial"], at }
  assert.deepStrictEqual(await ledger.hold({ ...job, ...trial, credits: 6, within: "1 hour" }), {
    _tag: "Held",
    credits: 6,
    parts: [{ lot: lot.id, credits: 6 }],
    expiresAt: new Date("2030-01-01T01:00:00Z")
  })
  const soon = new Date("2030-01-01T00:30:00Z")
  await ledger.hold({ account, reference: "next", credits: 3, expiresAt: soon, ...trial })
  assert.deepInclude(await ledger.balances({ account, at }), { credits: 0, held: 9 })

  const refused = async (call: Promise<unknown>) => call.catch((error: unknown) => error)
  const another = { account, reference: "another", credits: 0, within: 1_000, at }
  const expired = { ...another, within: undefined, expiresAt: at }
  const refusals = [
    [ledger.hold({ ...another, ...job }), AlreadyHeldError, { code: "already_held", credits: 6, state: "open" }],
    [ledger.charge({ ...job, credits: 1 }), AlreadyHeldError, { reference: "job" }],
    [ledger.hold(another), TooManyHoldsError, { code: "too_many_holds", limit: 2 }],
    [ledger.hold(expired), HoldExpiredError, { code: "hold_expired", expiresAt: at }],
    [ledger.capture({ ...job, credits: 7 }), CaptureExceedsHoldError, { code: "capture_exceeds_hold", held: 6 }],
    [ledger.capture({ ...job, reference: "none" }), UnknownHoldError, { code: "unknown_hold", reference: "none" }]
  ] as const
  for (const [call, type, fields] of refusals) {
    const error = await refused(call)
    assert.isTrue(error instanceof type, String(error))
    assert.deepInclude<unknown>(error, fields)
  }
  assert.match(String(await refused(ledger.hold({ ...another, within: "61 minutes" }))), /must expire by/)
  const insufficient = await refused(ledger.hold({ ...another, account: "bob", credits: 2 }))
  assert.instanceOf(insufficient, InsufficientCreditsError)
  assert.strictEqual(insufficient.message, "The price is 2 credits, and the account has 0")

  const captured = await ledger.capture({ ...job, credits: 4 })
  assert.deepInclude(captured, { _tag: "Captured", returned: [{ lot: lot.id, credits: 2 }] })
  assert.deepStrictEqual(await ledger.capture({ ...job, credits: 4 }), { _tag: "AlreadyCaptured", credits: 4 })
  const differs = await refused(ledger.capture(job))
  assert.instanceOf(differs, CaptureDiffersError)
  assert.deepInclude(differs, { code: "capture_differs", credits: 6, captured: 4 })
  const released = await ledger.release({ ...job, reference: "next" })
  assert.deepStrictEqual(released, { _tag: "Released", credits: 3, parts: [{ lot: lot.id, credits: 3 }] })
  const ended = await refused(ledger.release(job))
  assert.instanceOf(ended, HoldEndedError)
  assert.deepInclude(ended, { code: "hold_ended", state: "captured" })
  await ledger.refund(job)
  assert.deepStrictEqual((await ledger.verify()).totals, {
    granted: 10,
    remaining: 10,
    held: 0,
    consumed: 0,
    expired: 0
  })
})

it("returns metadata unchanged, also with names that values of Effect have", async () => {
  await using ledger = await createLedger({ memory: true })
  const job = { account: "ada", credits: 0 }
  for (const type of ["DateTime", "Duration", "Option", "Redacted"]) {
    const metadata = { [`~effect/${type}`]: `~effect/${type}`, _tag: "Some", list: [{ [`~effect/${type}`]: {} }] }
    await ledger.charge({ ...job, reference: type, metadata })
    const [entry] = await ledger.entries({ account: "ada", reference: type })
    assert.deepStrictEqual<unknown>(entry!.metadata, metadata)
  }
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using ledger = await createLedger({ memory: true })
  const wrong = [
    ["charge", { reference: "job", credits: 4 }, "account of charge"],
    ["grant", { account: "ada", reference: "order", kind: "addon", credits: 4 }, "expiresAt of grant"],
    ["refund", undefined, "the argument of refund"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(ledger, method), ledger, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
