/** How the tests of the contract are registered, and what they depend on. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Budget } from "../../Budget.ts"
import type { Places } from "../../Places.ts"
import type { RateLimit } from "../../RateLimit.ts"
import type { RateLimitStore } from "../../RateLimitStore.ts"

/** The store, and the services over it. */
export type Services = Budget | Places | RateLimit | RateLimitStore | SecureRandom.SecureRandom | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void

/** Traits of a store, on which some tests of the contract depend. */
export interface Traits {
  /** Whether a failed set, and a unit of work that rolls back, counts nothing. */
  readonly transactions: boolean
  /** Whether `sweep` deletes what no longer counts. Otherwise the storage does it by itself. */
  readonly sweeps: boolean
}
