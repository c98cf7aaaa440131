/**
 * The rules of limits, for stores of your own. They are pure: load a state, decide, and save the next state, all in one atomic
 * step of your storage. `@kinora/rate-limit/testing` tests the result.
 */
export * as Lease from "./internal/lease.ts"
/** Provides the units of work of a storage without transactions: their parts take effect at once, also if the unit fails. */
export { layer as layerNoUnits } from "./internal/noUnits.ts"
export * as Buckets from "./internal/storeRules/buckets.ts"
export * as Counter from "./internal/storeRules/counter.ts"
export * as Windows from "./internal/storeRules/windows.ts"
