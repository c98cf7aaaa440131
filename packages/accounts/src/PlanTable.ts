/** Limits, quotas, credits and prices of each tier. */
import { type DateTime, Effect, Option, Schema } from "effect"
import * as Plan from "./Plan.ts"

/** Limits of one group. */
export interface Limits {
  /** Job creations per calendar minute. */
  readonly createRpm: number
  /** Maximum number of jobs that run or are queued. Further jobs wait as pending. */
  readonly concurrency: number
  /** Share of the account in the workers, relative to others that have jobs too. */
  readonly weight: number
}

/** Jobs of each kind that a Studio plan includes per UTC day. */
export interface DailyQuota {
  readonly images: number
  readonly videos: number
}

const positive = Schema.Int.check(Schema.isGreaterThan(0))
const weight = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
const orDefault = <Value>(value: Value) => Effect.succeed(value)

const limitFields = (limits: Limits) => ({
  createRpm: positive.pipe(Schema.withDecodingDefaultKey(orDefault(limits.createRpm))),
  concurrency: positive.pipe(Schema.withDecodingDefaultKey(orDefault(limits.concurrency))),
  weight: weight.pipe(Schema.withDecodingDefaultKey(orDefault(limits.weight)))
})

/** Names in a configuration that differ from the decoded names. */
const tierKeys = { createRpm: "create_rpm", priceCents: "price_cents" } as const

const studioTier = (
  { priceCents, images, videos, ...limits }: Limits & DailyQuota & { readonly priceCents: number }
) =>
  Schema.Struct({
    ...limitFields(limits),
    /** Price of a period in US cents. */
    priceCents: Schema.Natural.pipe(Schema.withDecodingDefaultKey(orDefault(priceCents))),
    quota: Schema.Struct({
      images: Schema.Natural.pipe(Schema.withDecodingDefaultKey(orDefault(images))),
      videos: Schema.Natural.pipe(Schema.withDecodingDefaultKey(orDefault(videos)))
    }).pipe(Schema.withDecodingDefaultKey(orDefault({})))
  }).pipe(Schema.encodeKeys(tierKeys), Schema.withDecodingDefaultKey(orDefault({})))

const creditsTier = (
  { priceCents, credits, ...limits }: Limits & { readonly priceCents: number; readonly credits: number }
) =>
  Schema.Struct({
    ...limitFields(limits),
    /** Price of a period in US cents. */
    priceCents: Schema.Natural.pipe(Schema.withDecodingDefaultKey(orDefault(priceCents))),
    /** Credits that are granted for each period. */
    credits: Schema.Natural.pipe(Schema.withDecodingDefaultKey(orDefault(credits)))
  }).pipe(Schema.encodeKeys(tierKeys), Schema.withDecodingDefaultKey(orDefault({})))

/**
 * The configurable table. Every key has a default, so
 * `{ studio: { pro: { price_cents: 3500 } } }` changes one price only. Counts are whole
 * numbers; limits are at least 1.
 */
export const PlanTable = Schema.Struct({
  /** Length of a period in days. */
  periodDays: positive.pipe(Schema.withDecodingDefaultKey(orDefault(30))),
  /** The limits of a group in which an account has no plan. */
  free: Schema.Struct(limitFields({ createRpm: 10, concurrency: 1, weight: 1 })).pipe(
    Schema.encodeKeys({ createRpm: "create_rpm" }),
    Schema.withDecodingDefaultKey(orDefault({}))
  ),
  studio: Schema.Struct({
    starter: studioTier({ createRpm: 20, concurrency: 1, weight: 2, priceCents: 900, images: 50, videos: 5 }),
    pro: studioTier({ createRpm: 40, concurrency: 2, weight: 4, priceCents: 2900, images: 200, videos: 20 }),
    scale: studioTier({ createRpm: 80, concurrency: 4, weight: 8, priceCents: 9900, images: 1000, videos: 100 })
  }).pipe(Schema.withDecodingDefaultKey(orDefault({}))),
  credits: Schema.Struct({
    starter: creditsTier({ createRpm: 30, concurrency: 2, weight: 2, priceCents: 1000, credits: 1000 }),
    pro: creditsTier({ createRpm: 60, concurrency: 4, weight: 4, priceCents: 4500, credits: 5000 }),
    business: creditsTier({ createRpm: 120, concurrency: 8, weight: 8, priceCents: 16_000, credits: 20_000 })
  }).pipe(Schema.withDecodingDefaultKey(orDefault({})))
}).pipe(Schema.encodeKeys({ periodDays: "period_days" }))
/** Type of `PlanTable`. */
export type PlanTable = typeof PlanTable.Type

/** The default table. */
export const defaults: PlanTable = Schema.decodeSync(PlanTable)({})

/** Returns the limits of one group at `now`. Without a plan, or after its period, these are the limits of `free`. */
export const limits = <Group extends Plan.PlanGroup>(
  table: PlanTable,
  group: Group,
  plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>>,
  now: DateTime.Utc
): Limits => {
  const groups: { readonly [G in Plan.PlanGroup]: Readonly<Record<Plan.Tiers[G], Limits>> } = table
  return Option.match(Plan.active(plan, now), {
    onNone: () => table.free,
    onSome: ({ tier }) => groups[group][tier]
  })
}

/** Price of a period in US cents, and the credits that are granted for it: 0 in a group with a quota. */
export interface Terms {
  readonly priceCents: number
  readonly credits: number
}

/** Returns the price and the credits of a tier. */
export const termsOf = <Group extends Plan.PlanGroup>(
  table: PlanTable,
  group: Group,
  tier: Plan.Tiers[Group]
): Terms => {
  const groups: {
    readonly [G in Plan.PlanGroup]: Readonly<Record<Plan.Tiers[G], Pick<Terms, "priceCents"> & Partial<Terms>>>
  } = table
  const { credits = 0, priceCents } = groups[group][tier]
  return { priceCents, credits }
}

/** Returns the quota of the Studio plan per UTC day, or `None` if no Studio plan is active at `now`. */
export const dailyQuota = (
  table: PlanTable,
  plan: Option.Option<Plan.Plan<Plan.StudioTier>>,
  now: DateTime.Utc
): Option.Option<DailyQuota> => Option.map(Plan.active(plan, now), ({ tier }) => table.studio[tier].quota)
