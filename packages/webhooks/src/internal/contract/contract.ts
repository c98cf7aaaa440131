/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import * as Webhooks from "../../Webhooks.ts"
import type { WebhookStore } from "../../WebhookStore.ts"
import { byteTests, claimTests, dueTests, sentBodyTests } from "./claims.ts"
import { activeSecretTests, endpointTests, endpointUnitTests } from "./endpoints.ts"
import { deliveryTests, eventTests, listTests, publishTests } from "./events.ts"
import { failingTests, failingUnitTests, outOfOrderTests, restartedTimeTests } from "./failingEndpoints.ts"
import { concurrentForgetTests, forgetTests } from "./forgets.ts"
import { historyTests } from "./history.ts"
import { refusalTests, restartTests } from "./restarts.ts"
import { surroundings } from "./services.ts"
import { releaseTests, settlementTests } from "./settlements.ts"
import { leaseTests, removalTests, sweepTests } from "./sweeps.ts"
import type { Register, Services } from "./tests.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts: Readonly<Record<string, ReadonlyArray<(test: Register) => void>>> = {
  "endpoints and events": [endpointTests, endpointUnitTests, eventTests, listTests, removalTests, sweepTests],
  "claims": [
    claimTests,
    byteTests,
    sentBodyTests,
    dueTests,
    settlementTests,
    releaseTests,
    leaseTests,
    activeSecretTests
  ],
  "restarts and histories": [publishTests, deliveryTests, restartTests, refusalTests, historyTests],
  "failing endpoints": [failingTests, outOfOrderTests, restartedTimeTests, failingUnitTests],
  "forgotten accounts": [forgetTests, concurrentForgetTests]
}

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<WebhookStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Webhooks.layer.pipe(Layer.provideMerge(Layer.merge(store, surroundings)))
