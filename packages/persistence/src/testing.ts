/**
 * The contract of `UnitOfWork` as a Vitest suite. Requires `@effect/vitest` and `vitest`.
 *
 *     suite("my units", MyCells.layer.pipe(Layer.provideMerge(MyUnitOfWork.layer), Layer.provide(database)))
 */
import { layer } from "@effect/vitest"
import type { Layer } from "effect"
import type { Cells } from "./internal/contract/cells.ts"
import { registers } from "./internal/contract/contract.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

export { Cells } from "./internal/contract/cells.ts"
export { type InTransaction, transactions } from "./internal/contract/transactions.ts"

/**
 * Registers the tests of the contract. The layer is built once, and its cells have to be empty at that time. Units can run at the same
 * time or one after the other.
 */
export const suite = <E>(name: string, units: Layer.Layer<Cells | UnitOfWork, E>): void =>
  layer(units, { excludeTestServices: true })(`UnitOfWork (${name})`, (it) => {
    for (const register of registers) register((name, body) => it.effect(name, body))
  })
