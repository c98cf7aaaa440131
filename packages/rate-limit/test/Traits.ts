/** Traits of the backends, on which some tests of the contracts depend. */
import type { Traits } from "../src/testing.ts"

export type { Traits } from "../src/testing.ts"

export const ofDatabases: Traits = { transactions: true, sweeps: true }

export const ofRedis: Traits = { transactions: false, sweeps: false }
