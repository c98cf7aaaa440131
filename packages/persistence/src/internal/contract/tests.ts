/** How the tests of the contract are registered. */
import type { Effect, Scope } from "effect"
import type { UnitOfWork } from "../../UnitOfWork.ts"
import type { Cells } from "./cells.ts"

/** The units, and a store that takes part in them. */
type Services = Cells | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
