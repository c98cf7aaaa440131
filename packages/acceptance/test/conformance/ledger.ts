/** Lots, refunds and the ledger, as an account and an operator see them. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import { quotaOf } from "./plans.ts"
import type { Define } from "./Suite.ts"

interface Transaction {
  readonly kind: string
  readonly amount: number
  readonly entries: ReadonlyArray<{ readonly from: string; readonly to: string; readonly amount: number }>
}

const lotsOf = async (account: Account) => Calls.present((await Calls.reportOf(account)).plans.credits.lots)

/** Remaining credits of each lot, by kind. */
const leftOf = async (account: Account) =>
  Object.fromEntries((await lotsOf(account)).map(({ kind, remaining }) => [kind, remaining]))

const bookings = async (stage: Stage, id: string): Promise<ReadonlyArray<Transaction>> =>
  (await Calls.get<{ readonly data: ReadonlyArray<Transaction> }>(stage.admin, `/admin/v1/generations/${id}/ledger`))
    .data

export const ledger = ({ holds, inTime }: Define): void => {
  holds("credit-lots.spendable", async (stage) => {
    for (const kind of ["plan", "addon", "refund"] as const) {
      const account = await stage.openAccount({ lots: [{ kind, credits: 4, hours: 1 }] })
      expect([await Calls.creditsOf(account), (await Calls.create(account)).status]).toEqual([4, 201])
    }
    const account = await stage.openAccount({ lots: [{ kind: "trial", credits: 4, hours: 1 }] })
    expect(await Calls.creditsOf(account)).toBe(0)
    await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
  })

  inTime("credit-lots.expired", async (stage) => {
    const account = await stage.openAccount({ lots: [{ kind: "addon", credits: 8, hours: 1 }] })
    await stage.advance({ minutes: 59, seconds: 59 })
    expect((await Calls.create(account)).status).toBe(201)
    await stage.advance("1 second")
    expect(await Calls.creditsOf(account)).toBe(0)
    await Calls.refusalOf(await Calls.create(account, { model: "dear" }), 402, "insufficient_credits")
  })

  holds("credit-lots.imagesOnly", async (stage) => {
    const account = await stage.openAccount({ lots: [{ kind: "addon", credits: 40, hours: 1, imagesOnly: true }] })
    await Calls.refusalOf(await Calls.create(account, { model: "film" }), 402, "insufficient_credits")
    expect((await Calls.create(account)).status).toBe(201)
  })

  holds("credit-lots.order", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "plan", credits: 10, hours: 3 }, { kind: "addon", credits: 10, hours: 1 }]
    })
    await Calls.createJob(account)
    expect(await leftOf(account)).toEqual({ plan: 10, addon: 6 })
  })

  inTime("credit-lots.imagesFirst", async (stage) => {
    const account = await stage.openAccount({
      lots: [
        { kind: "refund", credits: 4, hours: 1 },
        { kind: "plan", credits: 4, hours: 1 },
        { kind: "addon", credits: 4, hours: 1, imagesOnly: true }
      ]
    })
    const left = []
    for (const prompt of ["a", "b", "c"]) {
      await Calls.createJob(account, { params: { prompt } })
      left.push(Object.entries(await leftOf(account)).filter(([, left]) => left > 0).map(([kind]) => kind).toSorted())
    }
    expect(left).toEqual([["plan", "refund"], ["refund"], []])
  }, { workers: 0 })

  holds("credit-lots.several", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "plan", credits: 3, hours: 1 }, { kind: "addon", credits: 6, hours: 2 }]
    })
    await Calls.refusalOf(await Calls.create(account, { model: "dear" }), 402, "insufficient_credits")
    expect(await leftOf(account)).toEqual({ plan: 3, addon: 6 })
    const { cost_credits } = await Calls.createJob(account)
    expect([cost_credits, await leftOf(account)]).toEqual([4, expect.objectContaining({ addon: 5 })])
  })

  inTime("credit-lots.returns", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "plan", credits: 3, hours: 1 }, { kind: "addon", credits: 6, hours: 2 }]
    })
    const { id } = await Calls.createJob(account)
    await Calls.cancel(account, id)
    expect(await leftOf(account)).toEqual({ plan: 3, addon: 6 })
  }, { workers: 0 })

  inTime("credit-lots.lapsed", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "plan", credits: 3, hours: 1 }, { kind: "addon", credits: 6, hours: 2 }]
    })
    const { id } = await Calls.createJob(account)
    await stage.advance("1 hour")
    await Calls.cancel(account, id)
    expect(await Calls.creditsOf(account)).toBe(9)
    const lots = await lotsOf(account)
    expect(lots.find(({ kind }) => kind === "refund")).toMatchObject({
      remaining: 3,
      expires_at: "2030-01-31T01:00:00.000Z"
    })
    expect(lots.find(({ kind }) => kind === "addon")).toMatchObject({ remaining: 6 })
  }, { workers: 0 })

  inTime("studio-quota.refund", async (stage) => {
    const account = await stage.openAccount()
    await stage.advance({ hours: 23, minutes: 59 })
    const today = await Calls.createJob(account, { plan: "studio" })
    const kept = await Calls.createJob(account, { plan: "studio", params: { prompt: "kept" } })
    await Calls.cancel(account, today.id)
    expect((await quotaOf(account)).used).toBe(1)
    await stage.advance("1 minute")
    const tomorrow = await Calls.createJob(account, { plan: "studio", params: { prompt: "tomorrow" } })
    expect((await quotaOf(account)).used).toBe(1)
    // The charge was yesterday.
    await Calls.cancel(account, kept.id)
    expect((await quotaOf(account)).used).toBe(1)
    await Calls.cancel(account, tomorrow.id)
    expect((await quotaOf(account)).used).toBe(0)
  }, { workers: 0 })

  holds("credit-lots.entries", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.ended(account, { model: "fails" })
    const transactions = await bookings(stage, id)
    expect(transactions.map(({ amount, kind }) => [kind, amount])).toEqual([["charge", 1], ["refund", 1]])
    const [charge, refund] = transactions.map(({ entries }) => entries)
    expect(refund).toEqual(charge?.map(({ amount, from, to }) => ({ from: to, to: from, amount })))
  })

  holds("credit-lots.verified", async (stage) => {
    const account = await stage.openAccount()
    await Calls.completed(account)
    await Calls.ended(account, { model: "fails" })
    const response = await stage.admin.send("/admin/v1/ledger/verify", { method: "POST" })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ accounts: expect.any(Number), discrepancies: [] })
  })
}
