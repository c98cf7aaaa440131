/** Parts of the contract, for drivers that are tested by some of them only. */
import { layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import type { Layer } from "effect"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { LedgerStore } from "../src/LedgerStore.ts"

/** Registers the tests of some parts. */
export const suite = <E>(
  name: string,
  store: Layer.Layer<LedgerStore | UnitOfWork.UnitOfWork, E>,
  names: ReadonlyArray<keyof typeof parts>
): void => {
  for (const part of names) {
    layer(services(store))(`LedgerStore: ${part} (${name})`, (it) => {
      for (const register of parts[part]) register((name, body) => it.effect(name, body))
    })
  }
}
