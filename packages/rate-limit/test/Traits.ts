/** Traits of a backend, on which some tests of the contracts depend. */
export interface Traits {
  /** Whether a failed set, and a unit of work that rolls back, counts nothing. */
  readonly transactions: boolean
  /** Whether `sweep` deletes what no longer counts. Otherwise the storage does it by itself. */
  readonly sweeps: boolean
}

export const ofDatabases: Traits = { transactions: true, sweeps: true }

export const ofRedis: Traits = { transactions: false, sweeps: false }
