/**
 * The contract of `IdempotencyStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MyIdempotencyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerSql), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import type { IdempotencyStore } from "./IdempotencyStore.ts"
import { parts, services } from "./internal/contract/contract.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. The tests move
 * the `TestClock`, so the time of the store has to be that of the `Clock`, or of `DatabaseTime`.
 */
export const suite = <E>(name: string, store: Layer.Layer<IdempotencyStore | UnitOfWork, E>): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`IdempotencyStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body))
    })
  }
}
