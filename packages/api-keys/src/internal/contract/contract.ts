/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ApiKeyStore } from "../../ApiKeyStore.ts"
import { limitTests, raceTests } from "./limits.ts"
import { listTests, ownerTests } from "./lists.ts"
import { changeTests, recordTests } from "./records.ts"
import { revocationTests } from "./revocations.ts"
import { rollTests } from "./rolls.ts"
import { forgetTests, sweepTests } from "./sweeps.ts"
import type { Register, Services } from "./tests.ts"
import { undoneTests, unitTests } from "./units.ts"
import { useTests } from "./uses.ts"
import { verificationTests } from "./verifications.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts: Readonly<Record<string, ReadonlyArray<(test: Register) => void>>> = {
  "keys": [recordTests, changeTests, listTests, ownerTests, revocationTests, rollTests, limitTests, raceTests],
  "verification": [verificationTests, useTests],
  "deletion": [sweepTests, forgetTests],
  "units of work": [unitTests, undoneTests]
}

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<ApiKeyStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Layer.merge(store, SecureRandom.layerWebCrypto)
