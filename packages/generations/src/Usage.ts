/** How many jobs of an account ended on which day, and what they cost (D36). */
import type { Kind, Plan } from "./Generation.ts"

/** The jobs of one model in one plan group that reached their final status on a UTC day. */
export interface UsageRow {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  readonly plan: Plan
  readonly model: string
  readonly kind: Kind
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Credits charged by the completed ones; 0 for studio. */
  readonly credits: number
}

/** Days from `from` to `to`, both inclusive, `YYYY-MM-DD`. Whoever asks bounds their number. */
export interface UsageSpan {
  readonly from: string
  readonly to: string
}
