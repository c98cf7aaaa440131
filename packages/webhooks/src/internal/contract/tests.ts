/** How the tests of the contract are registered. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Effect, Scope } from "effect"
import type { Webhooks } from "../../Webhooks.ts"
import type { WebhookStore } from "../../WebhookStore.ts"
import type { Surroundings } from "./services.ts"

/** The store, and the services over it. */
export type Services = Surroundings | UnitOfWork | Webhooks | WebhookStore

/** Registers a test. */
export type Register = <E>(name: string, body: () => Effect.Effect<void, E, Services | Scope.Scope>) => void
