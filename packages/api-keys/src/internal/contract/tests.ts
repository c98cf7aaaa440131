/** How the tests of the contract are registered. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { ApiKeyStore } from "../../ApiKeyStore.ts"

/** The store, and what hosts over it need. */
export type Services = ApiKeyStore | SecureRandom.SecureRandom | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
