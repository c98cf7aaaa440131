/** Accounts that tests forget. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import { LedgerStore } from "../../LedgerStore.ts"
import type { Transaction } from "../../Transaction.ts"
import { accepted, after, chargeOf, grantOf, holdOf, newAccount, noon, quotaChargeOf } from "./commands.ts"

/** The references of `openAccount`. */
export const references = [
  "granted",
  "granted too",
  "charged",
  "charged by a trial",
  "parts",
  "counted",
  "counted back",
  "held",
  "captured",
  "released"
]

/** Opens an account with transactions of all kinds, an open hold of 5 credits, and two lots with 66 credits. */
export const openAccount = Effect.gen(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  yield* accepted(ledger.grantAll([
    grantOf(account, 100, { reference: "granted" }),
    grantOf(account, 10, { reference: "granted too", kind: "trial" }),
    grantOf(account, 4, { reference: "granted for an hour", at: after({ hours: -2 }), expiresAt: after({ hours: -1 }) })
  ]))
  yield* ledger.expire({ at: noon })
  yield* accepted(ledger.chargeAll([
    chargeOf(account, "charged", 20),
    chargeOf(account, "parts", 9),
    chargeOf(account, "charged by a trial", 112 - 40, { kindsAllowed: ["trial"] }),
    quotaChargeOf(account, "counted", 3),
    quotaChargeOf(account, "counted before", 3, after({ days: -1 })),
    quotaChargeOf(account, "counted back", 3)
  ]))
  yield* ledger.refund({ account, reference: "charged by a trial", at: noon })
  yield* ledger.refund({ account, reference: "counted back", at: noon })
  yield* ledger.refund({ account, reference: "parts", part: { reference: "charged", credits: 2 }, at: noon })
  yield* ledger.refund({ account, reference: "parts", part: { reference: "parts", credits: 3 }, at: noon })
  yield* accepted(ledger.holdAll([
    holdOf(account, "held", 5),
    holdOf(account, "captured", 12),
    holdOf(account, "released", 6)
  ]))
  yield* ledger.capture({ account, reference: "captured", credits: 10, at: noon })
  yield* ledger.release({ account, reference: "released", at: noon })
  yield* ledger.charge(chargeOf(account, "released", 5))
  return account
})

/** The transactions of an account. */
export const entriesOf = (account: string) =>
  Effect.flatMap(Ledger, ({ entries }) => entries({ account, limit: 1_000 }))

/** All accounts with their transactions. */
export const readAll = Effect.gen(function*() {
  const store = yield* LedgerStore
  return yield* Effect.forEach(
    yield* store.findAccounts("", 1_000_000),
    (account) => Effect.map(entriesOf(account), (transactions) => ({ account, transactions }))
  )
})

/** All names of accounts, references, parts, and books without their class. */
export const namesIn = (all: Effect.Success<typeof readAll>): ReadonlyArray<string> =>
  all.flatMap(({ account, transactions }) => [
    account,
    ...transactions.flatMap(({ entries, part = "", reference }) => [
      reference,
      part,
      ...entries.flatMap(({ from, to }) => [from, to].map((book) => book.slice(book.indexOf(":") + 1)))
    ])
  ])

/** The transactions by those that share a reference, and by those that share the book of a hold. */
export const groupsOf = (transactions: ReadonlyArray<Transaction>) => {
  const groups = (keysOf: (transaction: Transaction) => ReadonlyArray<string>) =>
    Array.from(
      Map.groupBy(transactions.flatMap((one) => keysOf(one).map((key) => [key, one.id] as const)), ([key]) => key)
        .values(),
      (group) => group.map(([, id]) => id).toSorted().join()
    ).toSorted()
  return [
    groups(({ kind, reference }) => kind === "grant" || kind === "expire" ? [] : [reference]),
    groups(({ entries }) => entries.flatMap(({ from, to }) => [from, to]).filter((book) => book.startsWith("held:"))),
    groups(({ kind, part, reference }) => [`${kind} ${reference} ${part}`])
  ]
}

/** Asserts that all books are sound. */
export const assertSound = Effect.gen(function*() {
  const ledger = yield* Ledger
  assert.deepStrictEqual((yield* ledger.verify({ discrepanciesMax: 10 })).discrepancies, [])
  assert.isTrue((yield* ledger.trialBalance).balanced)
})
