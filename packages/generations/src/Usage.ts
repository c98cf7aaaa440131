/** Daily usage reports of an account. */
import type { StorageError } from "@kinora/persistence/StorageError"
import type { Effect } from "effect"
import type { Kind, Plan } from "./Generation.ts"

/** Jobs of one model and plan group that ended on a UTC day. */
export interface UsageRow {
  /** UTC day, `YYYY-MM-DD`. */
  readonly day: string
  readonly plan: Plan
  readonly model: string
  readonly kind: Kind
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Credits charged for completed jobs; 0 for studio. */
  readonly credits: number
}

/** Jobs of one API key among those of a `UsageRow`. */
export interface KeyUsageRow extends UsageRow {
  /** Id of the API key; `null` for the jobs without one, and for those that a worker of an earlier version ended. */
  readonly key: string | null
}

/** Range of UTC days, both ends inclusive, `YYYY-MM-DD`. The caller bounds its length. */
export interface UsageSpan {
  readonly from: string
  readonly to: string
}

/** Reads of usage, of `Generations` and of its store. */
export interface UsageReads {
  /** Returns the number and cost of the account's jobs by the day they ended, sorted by day, plan, model and kind. */
  readonly usage: (account: string, span: UsageSpan) => Effect.Effect<ReadonlyArray<UsageRow>, StorageError>

  /** Returns the usage by API key, sorted by day, plan, model, kind and key, at most `limit` rows. */
  readonly usageByKey: (
    account: string,
    span: UsageSpan,
    limit: number
  ) => Effect.Effect<ReadonlyArray<KeyUsageRow>, StorageError>
}
