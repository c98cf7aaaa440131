/**
 * The contract of `LedgerStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MyLedgerStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerSql), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import { parts, services } from "./internal/contract/contract.ts"
import type { LedgerStore } from "./LedgerStore.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. Commands name
 * their times, so a store with a clock of its own has to use that of `DatabaseTime`.
 */
export const suite = <E>(name: string, store: Layer.Layer<LedgerStore | UnitOfWork, E>): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`LedgerStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body))
    })
  }
}
