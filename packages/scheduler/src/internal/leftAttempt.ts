/** Attempts that ended without an outcome. */

/** An attempt that ended without an outcome. */
export interface LeftAttempt {
  readonly job: string
  /** The epoch of the lease; `undefined` for the last one of the job. */
  readonly epoch: number | undefined
}

/** Why an attempt ended without an outcome. */
export type LeftReason = "lost" | "returned"
