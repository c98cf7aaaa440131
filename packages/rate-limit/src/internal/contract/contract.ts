/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Budget from "../../Budget.ts"
import * as Places from "../../Places.ts"
import * as RateLimit from "../../RateLimit.ts"
import type { RateLimitStore } from "../../RateLimitStore.ts"
import { algorithmTests, bothAlgorithmsTests, mixedAlgorithmTests } from "./algorithms.ts"
import { budgetTests, dayTests } from "./budgets.ts"
import { forgetTests, forgetUnitTests } from "./forget.ts"
import { exactHitTests, hitTests, hitUnitTests } from "./hits.ts"
import { keyTests } from "./keys.ts"
import { freedPlaceTests, leaseTests, placeTests, sweptLeaseTests } from "./places.ts"
import type { Register, Services, Traits } from "./tests.ts"
import { addedTests, windowTests, windowUnitTests } from "./windows.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts: Readonly<Record<string, ReadonlyArray<(test: Register, traits: Traits) => void>>> = {
  "minutes": [exactHitTests, hitTests, hitUnitTests],
  "windows": [windowTests, windowUnitTests, addedTests],
  "sliding windows and token buckets": [bothAlgorithmsTests, algorithmTests, mixedAlgorithmTests],
  "days": [budgetTests, dayTests],
  "places": [placeTests, freedPlaceTests, leaseTests, sweptLeaseTests],
  "keys": [keyTests],
  "forget": [forgetTests, forgetUnitTests]
}

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<RateLimitStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Layer.mergeAll(RateLimit.layer, Budget.layer, Places.layer).pipe(
    Layer.provideMerge(store),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
