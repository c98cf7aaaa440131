/** How the tests of the contract are registered. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { Scheduler } from "../../Scheduler.ts"
import type { SchedulerStore } from "../../SchedulerStore.ts"

/** The store, and the service over it. */
export type Services = Scheduler | SchedulerStore | UnitOfWork

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
