/**
 * The contract of `RateLimitStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", Layer.merge(MyRateLimitStore.layer, StoreRules.layerNoUnits), {
 *       transactions: false,
 *       sweeps: false
 *     })
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import { parts, services } from "./internal/contract/contract.ts"
import type { Traits } from "./internal/contract/tests.ts"
import type { RateLimitStore } from "./RateLimitStore.ts"

export type { Traits } from "./internal/contract/tests.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. The tests move
 * the `TestClock`, so the time of the store has to be that of the `Clock`, or of `DatabaseTime`. By default, the store takes
 * part in units of work, and is swept.
 */
export const suite = <E>(
  name: string,
  store: Layer.Layer<RateLimitStore | UnitOfWork, E>,
  traits: Traits = { transactions: true, sweeps: true }
): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`RateLimitStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body), traits)
    })
  }
}
