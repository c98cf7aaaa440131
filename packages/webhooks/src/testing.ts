/**
 * The contract of `WebhookStore` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my store", MyWebhookStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerSql), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Layer } from "effect"
import { parts, services } from "./internal/contract/contract.ts"
import type { WebhookStore } from "./WebhookStore.ts"

/**
 * Registers the tests of the contract. The layer is built once for each part, and its storage has to be empty each time. The tests
 * pass the time of the `TestClock`, so a store with a clock of its own has to use that of `DatabaseTime`.
 */
export const suite = <E>(name: string, store: Layer.Layer<WebhookStore | UnitOfWork, E>): void => {
  for (const [part, registers] of Object.entries(parts)) {
    layer(services(store))(`WebhookStore: ${part} (${name})`, (it) => {
      for (const register of registers) register((name, body) => it.effect(name, body))
    })
  }
}
