/** Tests of accounts that are forgotten. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Exit } from "effect"
import { Ledger } from "../../Ledger.ts"
import { LedgerStore } from "../../LedgerStore.ts"
import type { Transaction } from "../../Transaction.ts"
import { isLot } from "../Book.ts"
import { accepted, after, chargeOf, grantOf, holdOf, newAccount, noon, quotaChargeOf, refusalOf } from "./commands.ts"
import { assertSound, entriesOf, groupsOf, namesIn, openAccount, readAll, references } from "./forgottenAccounts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of names and metadata. */
export const forgetTests = (test: Register): void => {
  test("replaces its name and references, and keeps amounts, times and links", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount
      const before = yield* entriesOf(account)
      const trial = yield* ledger.trialBalance
      const { totals } = yield* ledger.verify()
      const forgotten = yield* ledger.forget({ account, at: noon })
      const all = yield* readAll
      for (const name of [account, ...references]) assert.notInclude(namesIn(all), name)
      const found = new Map(all.flatMap(({ transactions }) => transactions).map((one) => [one.id, one]))
      const transactions = before.map(({ id }) => found.get(id)!)
      assert.deepStrictEqual(transactions.map(withoutNames), before.map(withoutNames))
      assert.deepStrictEqual(groupsOf(transactions), groupsOf(before))
      const [successor, ...others] = new Set(transactions.map((one) => one.account))
      assert.deepStrictEqual(others, [])
      const moved = yield* entriesOf(successor!)
      // One for the hold that was open, and one for each lot that was not empty.
      assert.deepStrictEqual(forgotten, { transactions: before.length + 3, credits: 110 - 20 - 4 - 10 - 5 })
      assert.strictEqual(moved.length, forgotten.transactions)
      yield* assertSound
      const after = yield* ledger.verify()
      assert.deepStrictEqual(after.totals, {
        ...totals,
        remaining: totals.remaining - forgotten.credits + 5,
        held: totals.held - 5,
        expired: totals.expired + forgotten.credits
      })
      assert.strictEqual((yield* ledger.trialBalance).booked, trial.booked + 5 + forgotten.credits)
      assert.deepStrictEqual((yield* ledger.balances(successor!, noon)).lots, [])
    }))

  test("deletes metadata", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 10, { metadata: { order: "o-1" } }))
      yield* ledger.charge({ ...chargeOf(account, "charged", 4), metadata: { call: "c-1" } })
      const before = yield* entriesOf(account)
      assert.deepStrictEqual(before.map(({ metadata }) => metadata), [{ call: "c-1" }, { order: "o-1" }])
      yield* ledger.forget({ account, at: noon })
      const ids = new Set(before.map(({ id }) => id))
      const moved = (yield* readAll).flatMap(({ transactions }) => transactions).filter(({ id }) => ids.has(id))
      assert.deepStrictEqual(moved.map(({ metadata }) => metadata), [undefined, undefined])
    }))
}

/** Registers the test of lots. */
export const forgottenLotTests = (test: Register): void => {
  test("keeps the terms of lots, also of those that it opens for held credits and closes", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const store = yield* LedgerStore
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      const terms = { purpose: "voice", labels: ["beta"] }
      const at = after({ hours: 2 })
      yield* accepted(ledger.grantAll([
        grantOf(account, 4, { ...terms, reference: "soon", kind: "trial", expiresAt: after({ hours: 1 }) }),
        grantOf(account, 10, { ...terms, reference: "later", kind: "addon" })
      ]))
      yield* ledger.hold(holdOf(account, "held", 6, { purpose: "voice", kindsAllowed: ["trial"] }))
      yield* ledger.charge(quotaChargeOf(account, "counted", 9, noon, "minutes", 7))
      yield* ledger.refund({ account, reference: "counted", at })
      yield* ledger.charge(quotaChargeOf(account, "counted again", 9, noon, "minutes", 5))
      const before = yield* entriesOf(account)
      const { credits } = yield* ledger.forget({ account, at, limit: 2 })
      assert.strictEqual(credits, 14)
      const ids = new Set(before.map(({ id }) => id))
      const { account: successor, transactions } = (yield* readAll).find(({ transactions }) =>
        transactions.some(({ id }) => ids.has(id))
      )!
      const { lots } = yield* atomically(store.load({
        accounts: [],
        transactions: [],
        holdsOf: [],
        lots: [...new Set(transactions.flatMap(({ entries }) => entries.flatMap(({ to }) => isLot(to) ? [to] : [])))],
        liveAfter: noon,
        liveMax: 1,
        days: { first: noon, last: noon }
      }))
      const lot = { account: successor, ...terms, remaining: 0, closed: true }
      assert.sameDeepMembers(
        lots.map(({ account, closed, granted, kind, labels, purpose, remaining }) => ({
          account,
          closed,
          granted,
          kind,
          labels,
          purpose,
          remaining
        })),
        [
          { ...lot, granted: 4, kind: "trial" },
          { ...lot, granted: 4, kind: "trial" },
          { ...lot, granted: 10, kind: "addon" }
        ]
      )
      assert.deepStrictEqual((yield* ledger.balances(successor, noon)).quotaUsed, new Map([["minutes", 5]]))
      yield* assertSound
    }))
}

/** Registers tests of the name afterwards. */
export const forgottenNameTests = (test: Register): void => {
  test("leaves a name as unknown as one that was never used", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const store = yield* LedgerStore
      const account = yield* openAccount
      yield* ledger.forget({ account, at: noon })
      assert.notInclude(yield* store.findAccounts("", 1_000_000), account)
      const { credits, held, lots, quotaUsed } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual([credits, held, lots.length, quotaUsed.size], [0, 0, 0, 0])
      assert.deepStrictEqual(yield* ledger.entries({ account }), [])
      const again = yield* refusalOf(ledger.charge(chargeOf(account, "charged", 1)))
      assert.strictEqual(again._tag, "InsufficientCredits")
      const job = { account, at: noon }
      assert.strictEqual((yield* refusalOf(ledger.refund({ ...job, reference: "charged" })))._tag, "UnknownCharge")
      assert.strictEqual((yield* refusalOf(ledger.capture({ ...job, reference: "held" })))._tag, "UnknownHold")
      // A refused command has created the account, which has no transactions.
      assert.include(yield* store.findAccounts("", 1_000_000), account)
      assert.deepStrictEqual(yield* ledger.forget(job), { transactions: 0, credits: 0 })
      assert.notInclude(yield* store.findAccounts("", 1_000_000), account)
      // A quota has no lots, and starts again.
      const { _tag } = yield* ledger.charge(quotaChargeOf(account, "counted", 1))
      assert.strictEqual(_tag, "ChargedQuota")
      assert.strictEqual((yield* ledger.grant(grantOf(account, 7)))._tag, "Granted")
      assert.deepStrictEqual(yield* ledger.forget(job), { transactions: 3, credits: 7 })
      yield* assertSound
    }))

  test("does nothing if the account is unknown, or was forgotten before", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const store = yield* LedgerStore
      const account = newAccount()
      const none = { transactions: 0, credits: 0 }
      assert.deepStrictEqual(yield* ledger.forget({ account, at: noon }), none)
      assert.notInclude(yield* store.findAccounts("", 1_000_000), account)
      yield* ledger.grant(grantOf(account, 1))
      assert.deepStrictEqual(yield* ledger.forget({ account, at: noon }), { transactions: 2, credits: 1 })
      const accounts = yield* store.findAccounts("", 1_000_000)
      assert.deepStrictEqual(yield* ledger.forget({ account, at: noon }), none)
      assert.deepStrictEqual(yield* store.findAccounts("", 1_000_000), accounts)
    }))

  test("gives the account a name that commands cannot use", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount
      const [{ id }] = yield* entriesOf(account) as Effect.Effect<[Transaction]>
      yield* ledger.forget({ account, at: noon })
      const all = yield* readAll
      const { account: successor, transactions } = all.find((one) => one.transactions.some((two) => two.id === id))!
      const charge = transactions.find(({ kind }) => kind === "charge")!
      const attempts = [
        ledger.charge(chargeOf(successor, "other", 0)),
        ledger.refund({ account: successor, reference: charge.reference, at: noon }),
        ledger.grant(grantOf(successor, 1)),
        ledger.forget({ account: successor, at: noon })
      ]
      for (const attempt of attempts) {
        assert.isTrue(Exit.hasDies(yield* Effect.exit<unknown, unknown, never>(attempt)))
      }
      assert.deepStrictEqual(yield* readAll, all)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withoutNames = ({ amount, at, entries, id, kind, reverses }: Transaction) => ({
  amount,
  at,
  id,
  kind,
  reverses,
  entries: entries.map(({ amount, from, to }) =>
    [amount, from, to].map((book) => String(book).startsWith("held:") ? "held" : book)
  )
})
