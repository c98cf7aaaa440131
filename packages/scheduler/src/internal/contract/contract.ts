/** The tests of all parts of the contract, and the services that they need. */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Layer } from "effect"
import * as Scheduler from "../../Scheduler.ts"
import type { SchedulerStore } from "../../SchedulerStore.ts"
import * as Wakeup from "../../Wakeup.ts"
import { auditTests } from "./audits.ts"
import { cancelTests, overdueTests } from "./cancels.ts"
import { concurrentDelayTests, delayUnitTests, dueInTests } from "./delayedUnits.ts"
import { cancelledDelayTests, delayTests, dueOrderTests, fullQueueTests } from "./delays.ts"
import { endedSetTests } from "./endedSets.ts"
import { concurrentForgetTests, forgetTests, forgottenRunTests, lateJobTests } from "./forgets.ts"
import { jobIdTests, keptJobIdTests, refusedJobIdTests } from "./jobIds.ts"
import { decisionTests, enqueuedTests, slotTests } from "./lanes.ts"
import { endedLeaseTests, leaseTests, rescueTests } from "./leases.ts"
import { poolTests, queueTests, resumableTests } from "./pools.ts"
import { concurrentPriorityTests, keptPriorityTests, priorityTests, swappedPriorityTests } from "./priorities.ts"
import { placedRetryTests, retryTests } from "./retries.ts"
import { advanceTests, aheadTests, tickTests, undoneTickTests } from "./schedules.ts"
import { concurrentShareTests, crowdedGroupTests, shareTests } from "./shares.ts"
import { endedJobTests, leasedJobTests } from "./singleJobs.ts"
import { concurrentSwapTests, swapTests } from "./swaps.ts"
import type { Register, Services } from "./tests.ts"
import { concurrentKeyTests, keyDecisionTests, keyUnitTests, uniqueKeyTests } from "./uniqueKeys.ts"
import { savedTwiceTests, unitTests } from "./units.ts"
import { attemptTests, checkpointTests, workerTests } from "./workers.ts"

/** The parts, by their names. Each needs an empty store. */
export const parts: Readonly<Record<string, ReadonlyArray<(test: Register) => void>>> = {
  "lanes": [
    slotTests,
    decisionTests,
    enqueuedTests,
    shareTests,
    concurrentShareTests,
    crowdedGroupTests,
    cancelTests,
    overdueTests,
    unitTests,
    savedTwiceTests,
    auditTests
  ],
  "leases": [
    leaseTests,
    leasedJobTests,
    endedJobTests,
    endedSetTests,
    rescueTests,
    endedLeaseTests,
    poolTests,
    resumableTests,
    queueTests,
    attemptTests,
    checkpointTests,
    workerTests
  ],
  "delays and retries": [
    dueInTests,
    delayTests,
    dueOrderTests,
    fullQueueTests,
    cancelledDelayTests,
    delayUnitTests,
    concurrentDelayTests,
    retryTests,
    placedRetryTests
  ],
  "ids and unique keys": [
    jobIdTests,
    keptJobIdTests,
    refusedJobIdTests,
    uniqueKeyTests,
    keyDecisionTests,
    keyUnitTests,
    concurrentKeyTests
  ],
  "priorities": [priorityTests, keptPriorityTests, concurrentPriorityTests, swappedPriorityTests],
  "swaps": [swapTests, concurrentSwapTests],
  "forgotten groups": [forgetTests, forgottenRunTests, lateJobTests, concurrentForgetTests],
  "schedules": [tickTests, aheadTests, undoneTickTests, advanceTests]
}

/** Provides the services over a store. */
export const services = <E>(store: Layer.Layer<SchedulerStore | UnitOfWork, E>): Layer.Layer<Services, E> =>
  Scheduler.layerWith().pipe(Layer.provideMerge(Layer.merge(store, Wakeup.layer)))
