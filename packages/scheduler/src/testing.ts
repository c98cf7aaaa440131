/**
 * The contract of `SchedulerStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MySchedulerStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerSql), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import { parts, services } from "./internal/contract/contract.ts"
import type { SchedulerStore } from "./SchedulerStore.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. The tests move
 * the `TestClock`, so the time of the store has to be that of `DatabaseTime`. The `Clock` is that of a worker, and can differ.
 */
export const suite = <E>(name: string, store: Layer.Layer<SchedulerStore | UnitOfWork, E>): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`SchedulerStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body))
    })
  }
}
