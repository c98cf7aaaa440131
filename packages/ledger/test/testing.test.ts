/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import { LedgerStore } from "../src/LedgerStore.ts"
import * as MemoryLedgerStore from "../src/MemoryLedgerStore.ts"

type Store = LedgerStore["Service"]

/** Returns whether a test fails for a store in memory with a fault. */
const isNoticed = Effect.fnUntraced(function*(fault: (store: Store) => Partial<Store>, name: string) {
  const store = Layer.effect(LedgerStore, Effect.map(LedgerStore, (store) => ({ ...store, ...fault(store) })))
    .pipe(Layer.provide(MemoryLedgerStore.layer), Layer.provideMerge(UnitOfWork.layerMemory))
  const runs: Array<Effect.Effect<boolean>> = []
  const test: Register = (other, body) => {
    if (other !== name) return
    const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services(store))))
    runs.push(Effect.map(run, Exit.isFailure))
  }
  for (const registers of Object.values(parts)) for (const register of registers) register(test)
  assert.strictEqual(runs.length, 1, name)
  return yield* Effect.provide(runs[0]!, TestClock.layer())
})

/** Changes what a store loads. */
const loading =
  (change: (loaded: Effect.Success<ReturnType<Store["load"]>>) => Effect.Success<ReturnType<Store["load"]>>) =>
  ({ load }: Store): Partial<Store> => ({ load: (query) => Effect.map(load(query), change) })

/** Changes what a store saves. */
const saving =
  (change: (changes: Parameters<Store["save"]>[0]) => Parameters<Store["save"]>[0]) =>
  ({ save }: Store): Partial<Store> => ({ save: (changes) => save(change(changes)) })

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "loads no transactions",
    loading((loaded) => ({ ...loaded, transactions: [] })),
    "charges a reference once, within a set and after a refund too"
  ],
  [
    "loads no lots",
    loading((loaded) => ({ ...loaded, lots: [] })),
    "takes one charge from several lots in spending order"
  ],
  [
    "loads no counters",
    loading((loaded) => ({ ...loaded, quotas: [] })),
    "lowers only the counter of the charge's day, once"
  ],
  [
    "loads no open holds",
    loading((loaded) => ({ ...loaded, holds: [] })),
    "are captured in part: the lots hold what a charge of that part leaves, and its refunds work"
  ],
  [
    "does not count open holds",
    loading((loaded) => ({ ...loaded, openHolds: [] })),
    "are at most as many as an account may have, also when they are requested at the same time"
  ],
  [
    "opens no lots",
    saving((changes) => ({ ...changes, openedLots: [] })),
    "opens a lot once per reference"
  ],
  [
    "does not change lots",
    saving((changes) => ({ ...changes, changedLots: [] })),
    "take credits as a charge does, which no other charge can use"
  ],
  [
    "does not close lots",
    saving((changes) => ({ ...changes, changedLots: changes.changedLots.map((lot) => ({ ...lot, closed: false })) })),
    "books expired credits once when several sweeps run at the same time"
  ],
  [
    "does not compare counters with those that were loaded",
    ({ findBalances, save }) => ({
      save: (changes) =>
        Effect.gen(function*() {
          const quotas = yield* Effect.forEach(changes.quotas, (quota) => {
            const at = DateTime.makeUnsafe(quota.day)
            return Effect.map(
              findBalances({ account: quota.account, at, day: quota.day, lotsMax: 1 }),
              ({ quotas }) => ({
                ...quota,
                before: quotas.find(({ kind }) => kind === quota.kind)?.used ?? 0
              })
            )
          })
          return yield* save({ ...changes, quotas })
        })
    }),
    "dies with StaleBooks if a quota was charged by another load that was saved first"
  ],
  [
    "ends no holds",
    saving((changes) => ({ ...changes, endedHolds: [] })),
    "are released once, and not captured afterwards"
  ],
  [
    "forgets labels",
    saving((changes) => ({ ...changes, openedLots: changes.openedLots.map((lot) => ({ ...lot, labels: [] })) })),
    "return the labels of all lots that paid, each once"
  ],
  [
    "forgets metadata",
    saving((changes) => ({
      ...changes,
      transactions: changes.transactions.map((one) => ({ ...one, metadata: undefined }))
    })),
    "returns the metadata of each command, and ignores that of a repeated one"
  ],
  [
    "finds nothing that has expired",
    () => ({ findExpired: () => Effect.succeed({ lots: [], holds: [] }) }),
    "expire: they are not capturable from then on, and the sweep returns their credits"
  ],
  [
    "ignores the page of a list",
    ({ findTransactions }) => ({
      findTransactions: (query) => findTransactions({ ...query, before: undefined })
    }),
    "lists the transactions of an account newest first, page by page"
  ],
  [
    "finds the transactions of a statement by their ids",
    ({ findStatement }) => ({
      findStatement: (query) =>
        Effect.map(findStatement(query), ({ transactions, ...found }) => ({
          ...found,
          transactions: transactions.toSorted((one, other) => one.id < other.id ? -1 : 1)
        }))
    }),
    "have a line per transaction in the order of time, each with the balance after it"
  ],
  [
    "finds no balance before a period",
    ({ findStatement }) => ({
      findStatement: (query) =>
        Effect.map(findStatement(query), (found) => ({ ...found, opening: { credits: 0, held: 0 } }))
    }),
    "open with the balance of what was booked before the period, and end before its end"
  ],
  [
    "begins every page of a statement with the period",
    ({ findStatement }) => ({ findStatement: (query) => findStatement({ ...query, after: undefined }) }),
    "are the same page by page"
  ],
  [
    "finds accounts from the first one",
    ({ findAccounts }) => ({
      findAccounts: (after, limit) => after === "" ? findAccounts("", limit) : Effect.succeed([])
    }),
    "verifies all accounts page by page with the same result"
  ],
  [
    "sums up nothing",
    ({ findMoved }) => ({ findMoved: Effect.map(findMoved, (moved) => ({ ...moved, moved: [] })) }),
    "sums up all accounts by class, with a line for each class"
  ],
  [
    "forgets nothing",
    () => ({
      forget: ({ after }) => Effect.succeed({ transactions: 0, after, isForgotten: true })
    }),
    "replaces its name and references, and keeps amounts, times and links"
  ],
  [
    "forgets an account with open holds",
    () => ({ lockAndFindOpen: () => Effect.succeed({ lots: [], holds: [] }) }),
    "replaces its name and references, and keeps amounts, times and links"
  ]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for a store that ${fault}`, () =>
    Effect.gen(function*() {
      assert.isFalse(yield* isNoticed(() => ({}), test), "the test fails without the fault")
      assert.isTrue(yield* isNoticed(change, test))
    }))
}

it.effect("fails for a store that takes no part in units of work", () =>
  Effect.gen(function*() {
    const memory = MemoryLedgerStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    const apart = yield* Effect.provide(LedgerStore, memory)
    assert.isTrue(yield* isNoticed(() => apart, "writes nothing if the unit rolls back"))
  }))
