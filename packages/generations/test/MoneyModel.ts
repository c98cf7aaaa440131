/**
 * A small model of the money of accounts: balances, plans, credits, quotas and the budget of a key. It has no transactions, sets or
 * locks. Lots of one kind that expire together are one bucket, since jobs spend them alike.
 */
import type { Plan, PlanTable } from "@kinora/accounts"

/** Moments and durations are milliseconds. */
const day = 86_400_000
const refundLifetime = 30 * day
const renewalLead = 60_000

export type Group = Plan.PlanGroup
export type Tier = Plan.StudioTier | Plan.CreditsTier

export interface PlanState {
  readonly tier: Tier
  readonly end: number
  readonly renews: boolean
  readonly next: Tier | undefined
}

export interface Bucket {
  readonly expiresAt: number
  readonly imagesOnly: boolean
  readonly kind: "addon" | "plan" | "refund" | "trial"
}

/** Payment of a job. */
export type Payment =
  & { readonly at: number; readonly credits: number }
  & (
    | { readonly _tag: "Credits"; readonly parts: ReadonlyArray<readonly [key: string, credits: number]> }
    | { readonly _tag: "Quota"; readonly day: number }
  )

/** The limits of the key that creates the jobs. */
export type Limits = Readonly<
  Partial<Record<"creditsPerDay" | "creditsPerMonth" | "jobsPerDay" | "jobsPerMonth", number>>
>

/** The money of one account. */
export class MoneyModel {
  cents = 0
  readonly plans: Record<Group, PlanState | undefined> = { studio: undefined, credits: undefined }
  readonly #buckets = new Map<string, Bucket & { remaining: number }>()
  readonly #images = new Map<number, number>()
  /** Periods that were paid, and those whose credits were granted. */
  readonly #done = new Set<string>()

  /** The jobs that are not refunded. */
  readonly #jobs: Array<Pick<Payment, "at" | "credits">> = []

  readonly table: PlanTable.PlanTable
  readonly limits: Limits

  constructor(table: PlanTable.PlanTable, limits: Limits) {
    this.table = table
    this.limits = limits
  }

  deposit(cents: number): string {
    this.cents += cents
    return "Booked"
  }

  debit(cents: number): string {
    if (cents > this.cents) return "BalanceTooLow"
    this.cents -= cents
    return "Booked"
  }

  subscribe(group: Group, tier: Tier, now: number): string {
    const plan = this.#active(group, now)
    const terms = this.#terms(group, tier)
    if (plan === undefined) {
      if (terms.price > this.cents) return "BalanceTooLow"
      const end = now + this.#period
      this.plans[group] = { tier, end, renews: true, next: undefined }
      this.#pay("subscription", group, tier, end, terms.price, terms.credits)
      return "Started"
    }
    if (plan.tier === tier) {
      this.plans[group] = { ...plan, renews: true, next: undefined }
      return "Continued"
    }
    const former = this.#terms(group, plan.tier)
    if (terms.price < former.price) {
      this.plans[group] = { ...plan, renews: true, next: tier }
      return "Scheduled"
    }
    const left = BigInt(plan.end - now)
    const period = BigInt(this.#period)
    const exact = BigInt(terms.price - former.price) * left
    const price = Number(exact / period) + (exact % period === 0n ? 0 : 1)
    const credits = Number(BigInt(terms.credits - former.credits) * left / period)
    if (price > this.cents) return "BalanceTooLow"
    this.plans[group] = { tier, end: plan.end, renews: true, next: undefined }
    this.#pay("upgrade", group, tier, plan.end, price, credits)
    return "Raised"
  }

  stopRenewal(group: Group, now: number): string {
    const plan = this.#active(group, now)
    if (plan === undefined) return "PlanNotActive"
    this.plans[group] = { ...plan, renews: false, next: undefined }
    return "Stopped"
  }

  endPlan(group: Group): string {
    this.plans[group] = undefined
    return "Ended"
  }

  grant(bucket: Bucket, credits: number): string {
    const key = keyOf(bucket)
    this.#buckets.set(key, { ...bucket, remaining: (this.#buckets.get(key)?.remaining ?? 0) + credits })
    return "Granted"
  }

  /** Pays a job, or returns the reason of the refusal. */
  charge(kind: "draft" | "image" | "video", price: number, now: number): Payment | string {
    const credits = kind === "draft" ? 0 : price
    if (kind === "draft" && this.#active("studio", now) === undefined) return "PlanInactive"
    if (this.#exceeds(credits, now)) return "KeyBudgetExceeded"
    if (kind === "draft") {
      const plan = this.#active("studio", now)
      if (plan === undefined) return "PlanInactive"
      const today = Math.floor(now / day)
      const used = this.#images.get(today) ?? 0
      if (used >= this.table.studio[plan.tier as Plan.StudioTier].quota.images) return "QuotaExceeded"
      this.#images.set(today, used + 1)
      this.#jobs.push({ at: now, credits })
      return { _tag: "Quota", day: today, at: now, credits }
    }
    const parts: Array<readonly [string, number]> = []
    let due = credits
    for (const bucket of this.live(now).filter(({ imagesOnly }) => kind === "image" || !imagesOnly)) {
      const part = Math.min(due, bucket.remaining)
      if (part > 0) parts.push([keyOf(bucket), part])
      due -= part
    }
    if (due > 0) return "InsufficientCredits"
    for (const [key, part] of parts) this.#buckets.get(key)!.remaining -= part
    this.#jobs.push({ at: now, credits })
    return { _tag: "Credits", parts, at: now, credits }
  }

  refund(payment: Payment, now: number): void {
    this.#jobs.splice(this.#jobs.findIndex(({ at, credits }) => at === payment.at && credits === payment.credits), 1)
    if (payment._tag === "Quota") {
      this.#images.set(payment.day, Math.max(0, (this.#images.get(payment.day) ?? 0) - 1))
      return
    }
    for (const [key, part] of payment.parts) {
      const bucket = this.#buckets.get(key)!
      if (bucket.expiresAt > now) bucket.remaining += part
      else this.grant({ kind: "refund", expiresAt: now + refundLifetime, imagesOnly: bucket.imagesOnly }, part)
    }
  }

  /** Renews and ends the plans that are due, those that end first before the others. */
  renew(now: number): void {
    const due = groups.toSorted((a, b) => (this.plans[a]?.end ?? 0) - (this.plans[b]?.end ?? 0))
    for (const group of due) {
      const plan = this.plans[group]
      if (plan === undefined || plan.end > now + renewalLead) continue
      const tier = plan.next ?? plan.tier
      const { credits, price } = this.#terms(group, tier)
      if (!plan.renews || price > this.cents) {
        if (plan.end <= now) this.plans[group] = undefined
        continue
      }
      const end = plan.end + this.#period > now ? plan.end + this.#period : now + this.#period
      this.plans[group] = { tier, end, renews: true, next: undefined }
      this.#pay("renewal", group, tier, end, price, credits)
    }
  }

  /** Buckets that can pay, in the order in which they do. */
  live(now: number): ReadonlyArray<Bucket & { readonly remaining: number }> {
    return Array.from(this.#buckets.values())
      .filter(({ expiresAt, remaining }) => expiresAt > now && remaining > 0)
      .toSorted((a, b) =>
        a.expiresAt - b.expiresAt || Number(b.imagesOnly) - Number(a.imagesOnly) ||
        kinds.indexOf(a.kind) - kinds.indexOf(b.kind)
      )
  }

  imagesOf(now: number): number {
    return this.#images.get(Math.floor(now / day)) ?? 0
  }

  /** The credits and jobs of the UTC day and the UTC month. */
  usedOf(now: number) {
    const within = (length: number) => {
      const jobs = this.#jobs.filter(({ at }) => textOf(at, length) === textOf(now, length))
      return { credits: jobs.reduce((sum, { credits }) => sum + credits, 0), jobs: jobs.length }
    }
    return { day: within("YYYY-MM-DD".length), month: within("YYYY-MM".length) }
  }

  #exceeds(credits: number, now: number): boolean {
    const { creditsPerDay = Infinity, creditsPerMonth = Infinity, jobsPerDay = Infinity, jobsPerMonth = Infinity } =
      this.limits
    const { day, month } = this.usedOf(now)
    return day.jobs >= jobsPerDay || month.jobs >= jobsPerMonth ||
      (credits > 0 && (day.credits + credits > creditsPerDay || month.credits + credits > creditsPerMonth))
  }

  get #period(): number {
    return this.table.periodDays * day
  }

  #active(group: Group, now: number): PlanState | undefined {
    const plan = this.plans[group]
    return plan !== undefined && plan.end > now ? plan : undefined
  }

  #terms(group: Group, tier: Tier): { readonly price: number; readonly credits: number } {
    if (group === "studio") return { price: this.table.studio[tier as Plan.StudioTier].priceCents, credits: 0 }
    const { credits, priceCents } = this.table.credits[tier as Plan.CreditsTier]
    return { price: priceCents, credits }
  }

  #pay(kind: string, group: Group, tier: Tier, end: number, price: number, credits: number): void {
    const period = `${kind} ${group} ${tier} ${end}`
    if (this.#done.has(period)) return
    this.#done.add(period)
    this.cents -= price
    if (credits > 0) this.grant({ kind: "plan", expiresAt: end, imagesOnly: false }, credits)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const groups = ["credits", "studio"] as const
const kinds = ["plan", "refund", "addon"]

const textOf = (at: number, length: number) => new Date(at).toISOString().slice(0, length)

const keyOf = ({ expiresAt, imagesOnly, kind }: Bucket) => `${expiresAt} ${kind} ${imagesOnly}`
