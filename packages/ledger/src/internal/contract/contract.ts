/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../../Ledger.ts"
import type { LedgerStore } from "../../LedgerStore.ts"
import { chargeTests, metadataTests, paidByTests } from "./charges.ts"
import { concurrentChargeTests, concurrentRefundTests, mixTests, verificationTests } from "./concurrency.ts"
import { forgetTests, forgottenLotTests, forgottenNameTests } from "./forget.ts"
import { forgetBatchTests, forgetRaceTests, forgetUnitTests } from "./forgetBatches.ts"
import { expiredHoldTests, heldLotTests } from "./heldLots.ts"
import { holdRaceTests, manyHoldTests } from "./holdRaces.ts"
import { endedHoldTests, holdReferenceTests, holdTests } from "./holds.ts"
import { holdDecisionTests, undoneHoldTests } from "./holdUnits.ts"
import { grantTests, revocationTests, spendingTests } from "./lots.ts"
import { lotKindTests, purposeTests } from "./lotTerms.ts"
import { concurrentPartTests, expiredPartTests, partTests, refusedPartTests } from "./partialRefunds.ts"
import { listTests, quotaAmountTests, quotaTests } from "./quotas.ts"
import { refundTests, singleRefundTests } from "./refunds.ts"
import { statementPageTests, statementTests } from "./statements.ts"
import type { Register, Services } from "./tests.ts"
import { trialBalanceTests } from "./trialBalance.ts"
import { decisionTests, savedAgainTests, staleTests, undoneTests } from "./units.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts = {
  "lots and charges": [
    grantTests,
    spendingTests,
    revocationTests,
    chargeTests,
    paidByTests,
    metadataTests,
    refundTests,
    singleRefundTests,
    quotaTests,
    listTests,
    quotaAmountTests
  ],
  "partial refunds": [partTests, refusedPartTests, expiredPartTests, concurrentPartTests],
  "units of work": [
    decisionTests,
    staleTests,
    savedAgainTests,
    undoneTests,
    concurrentChargeTests,
    concurrentRefundTests,
    verificationTests,
    mixTests
  ],
  "holds": [
    holdTests,
    endedHoldTests,
    holdReferenceTests,
    expiredHoldTests,
    heldLotTests,
    holdDecisionTests,
    undoneHoldTests,
    holdRaceTests,
    manyHoldTests
  ],
  "terms of lots": [lotKindTests, purposeTests],
  "forgotten accounts": [
    forgetTests,
    forgottenLotTests,
    forgottenNameTests,
    forgetUnitTests,
    forgetBatchTests,
    forgetRaceTests
  ],
  "statements": [statementTests, statementPageTests],
  "trial balance": [trialBalanceTests]
} satisfies Readonly<Record<string, ReadonlyArray<(test: Register) => void>>>

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<LedgerStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Ledger.layer.pipe(Layer.provideMerge(Layer.merge(store, SecureRandom.layerWebCrypto)))
