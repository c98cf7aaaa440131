/**
 * The contract of drivers as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("MyDriver", { generator: Result.getOrThrow(MyDriver.generator({})) })
 *
 * Every build of `generator` is a separate process. The suite builds it again to test
 * that another process continues from an operation.
 */
import { describe } from "@effect/vitest"
import { make } from "./internal/contract/contract.ts"
import { faultTest } from "./internal/contract/faults.ts"
import type { ContractOptions } from "./internal/contract/options.ts"
import {
  cancelTests,
  foreignTests,
  imageTests,
  memoryTests,
  restartTests,
  resultTests,
  runningTests
} from "./internal/contract/tests.ts"

export type { ContractOptions, Fault, ImageOptions } from "./internal/contract/options.ts"

/** Registers the tests of the contract. */
export const suite = <E>(name: string, options: ContractOptions<E>): void => {
  const contract = make(options)
  describe(`driver contract (${name})`, () => {
    resultTests(contract)
    foreignTests(contract)
    if (options.continues === "process") memoryTests(contract)
    else restartTests(contract)
    if (options.running !== undefined) runningTests(contract, options.running)
    if (options.running !== undefined && options.cancels !== false) cancelTests(contract, options.running)
    if (options.images !== undefined) imageTests(contract, options.images)
    for (const fault of options.faults ?? []) faultTest(contract, fault)
  })
}
