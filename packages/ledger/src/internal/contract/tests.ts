/** How the tests of the contract are registered. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Ledger } from "../../Ledger.ts"
import type { LedgerStore } from "../../LedgerStore.ts"

/** The store, and the service over it. */
export type Services = Ledger | LedgerStore | SecureRandom.SecureRandom | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
