/** How the tests of the contract are registered. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Idempotency } from "../../Idempotency.ts"
import type { IdempotencyStore } from "../../IdempotencyStore.ts"
import type { Responses } from "../../Responses.ts"

/** The store, and the services over it. */
export type Services = Idempotency | IdempotencyStore | Responses | SecureRandom.SecureRandom | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
