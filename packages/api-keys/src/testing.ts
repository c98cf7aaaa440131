/**
 * The contract of `ApiKeyStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MyApiKeyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerSql), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import type { ApiKeyStore } from "./ApiKeyStore.ts"
import { parts, services } from "./internal/contract/contract.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. The tests
 * advance the `TestClock`, by up to 90 days at once. What a store waits for, such as the pause after a conflict, has to use the
 * default clock.
 */
export const suite = <E>(name: string, store: Layer.Layer<ApiKeyStore | UnitOfWork, E>): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`ApiKeyStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body))
    })
  }
}
