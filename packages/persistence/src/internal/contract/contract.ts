/** The tests of all parts of the contract. */
import { callbackOrderTests, callbackTests } from "./callbacks.ts"
import { concurrentTests, isolationTests } from "./concurrency.ts"
import { endedTests, nestedTests } from "./nestedUnits.ts"
import type { Register } from "./tests.ts"
import { interruptionTests, unitTests } from "./units.ts"

/** The tests, which share one storage. */
export const registers: ReadonlyArray<(test: Register) => void> = [
  unitTests,
  interruptionTests,
  nestedTests,
  endedTests,
  callbackTests,
  callbackOrderTests,
  concurrentTests,
  isolationTests
]
