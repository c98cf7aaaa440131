/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Idempotency from "../../Idempotency.ts"
import type { IdempotencyStore } from "../../IdempotencyStore.ts"
import * as Responses from "../../Responses.ts"
import { claimTests, keyTests, setTests, unitTests } from "./claims.ts"
import { forgetTests } from "./forget.ts"
import { keptResponseTests, responseTests, responseUnitTests } from "./responses.ts"
import { slotTests } from "./slots.ts"
import type { Register, Services } from "./tests.ts"
import { extensionTests, windowTests } from "./windows.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts: Readonly<Record<string, ReadonlyArray<(test: Register) => void>>> = {
  claims: [claimTests, unitTests, setTests, keyTests, slotTests],
  forget: [forgetTests],
  windows: [windowTests, extensionTests],
  responses: [responseTests, keptResponseTests, responseUnitTests]
}

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<IdempotencyStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Layer.mergeAll(Idempotency.layer, Responses.layerWith({})).pipe(
    Layer.provideMerge(Layer.merge(store, SecureRandom.layerWebCrypto))
  )
