/** Renewal of plans from the account's balance. */
import { expect, vi } from "@effect/vitest"
import type { Stage } from "../../src/conformance/Stage.ts"
import { sendAccepted } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const minutesHence = (stage: Stage, minutes: number) => new Date(stage.now().getTime() + minutes * 60_000)

const daysAfter = (time: Date, days: number) => new Date(time.getTime() + days * 86_400_000).toISOString()

/** Opens an account with a starter plan in both groups, `auto_renew`, and this balance. */
const open = async (stage: Stage, end: Date, cents: number) => {
  const account = await stage.openAccount({ studio: null, credits: null, lots: [] })
  const path = `/admin/v1/accounts/${account.id}`
  const terms = { tier: "starter", period_end: end.toISOString(), auto_renew: true }
  for (const group of ["studio", "credits"]) {
    await sendAccepted(stage.admin, `${path}/plans/${group}`, { method: "PUT", json: terms })
  }
  await sendAccepted(stage.admin, `${path}/deposits`, {
    method: "POST",
    json: { reference: "start", usd_cents: cents }
  })
  return account
}

/** Polls a server until the condition holds. */
const until = (isSo: () => Promise<boolean> | boolean) => vi.waitUntil(isSo, { timeout: 120_000, interval: 500 })

export const renewal = ({ inTime, onPostgres }: Define): void => {
  inTime(["renewal.renews", "renewal.unpaid"], async (stage) => {
    const end = minutesHence(stage, 60)
    // Enough for two periods of one plan and one of the other.
    const account = await open(stage, end, 900 + 1000 + 900 + 99)
    expect(await Calls.reportOf(account)).toMatchObject({ balance_usd_cents: 2899, plans: { credits: { lots: [] } } })

    await stage.advance("1 hour")
    const second = daysAfter(end, 30)
    const renewed = { active: true, tier: "starter", period_end: second, auto_renew: true }
    const first = await Calls.reportOf(account)
    expect(first.balance_usd_cents).toBe(999)
    expect(first.plans.studio).toMatchObject(renewed)
    expect(first.plans.credits).toMatchObject({ ...renewed, credits_remaining: 1000 })
    expect(first.plans.credits.lots).toMatchObject([{ kind: "plan", remaining: 1000, expires_at: second }])

    await stage.advance("30 days")
    const last = await Calls.reportOf(account)
    expect(last.balance_usd_cents).toBe(99)
    expect(last.plans.studio).toMatchObject({ active: true, period_end: daysAfter(end, 60) })
    expect(last.plans.credits).toMatchObject({ active: false, tier: null, period_end: null, credits_remaining: 0 })
  })

  onPostgres("renewal.once", async (stage) => {
    await stage.second()
    const first = minutesHence(stage, 1)
    const account = await open(stage, first, 10_000)
    await until(async () => (await Calls.reportOf(account)).balance_usd_cents === 10_000 - 900 - 1000)
    const end = new Date((await Calls.reportOf(account)).plans.studio.period_end ?? 0)
    // Both servers check several times until the first period would have ended.
    await until(() => stage.now() > first)
    const { balance_usd_cents, plans } = await Calls.reportOf(account)
    expect([balance_usd_cents, plans.studio.period_end]).toEqual([8_100, end.toISOString()])
    expect(plans.credits.lots).toMatchObject([{ kind: "plan", remaining: 1000 }])
  })
}
