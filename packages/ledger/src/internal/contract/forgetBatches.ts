/** Tests of batches of accounts that are forgotten. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Exit, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import * as LedgerModule from "../../Ledger.ts"
import { Ledger } from "../../Ledger.ts"
import { LedgerStore } from "../../LedgerStore.ts"
import { chargeOf, grantOf, holdOf, newAccount, noon, quotaChargeOf, refusalOf, times } from "./commands.ts"
import { assertSound, entriesOf, groupsOf, namesIn, openAccount, readAll, references } from "./forgottenAccounts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of units of work, and of calls that end early. */
export const forgetUnitTests = (test: Register): void => {
  test("is undone with the unit of its caller, and commits with it", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = yield* openAccount
      const before = yield* readAll
      const forget = ledger.forget({ account, at: noon, limit: 2 })
      yield* Effect.exit(atomically(Effect.andThen(forget, Effect.fail("rolled back"))))
      assert.deepStrictEqual(yield* readAll, before)
      assert.strictEqual((yield* ledger.balances(account, noon)).held, 5)
      yield* atomically(Effect.gen(function*() {
        yield* ledger.forget({ account, at: noon, limit: 2 })
        const { lot } = yield* ledger.grant(grantOf(account, 3))
        assert.strictEqual(lot.remaining, 3)
      }))
      assert.strictEqual((yield* ledger.entries({ account })).length, 1)
      yield* assertSound
    }))

  test("continues after a call that ended between two batches, and books stay sound in between", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      let ended = false
      for (let batches = 0; !ended; batches++) {
        const account = yield* openAccount
        const before = yield* entriesOf(account)
        ended = Exit.isSuccess(yield* Effect.exit(forgetAfter(batches, account)))
        yield* assertSound
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
        // Commands between two batches, of which some find their transactions and others do not.
        yield* ledger.grant(grantOf(account, 50, { reference: "between" }))
        const attempts = references.flatMap((reference): ReadonlyArray<Effect.Effect<unknown, unknown>> => [
          ledger.refund({ account, reference, at: noon }),
          ledger.charge(chargeOf(account, reference, 2)),
          ledger.charge(quotaChargeOf(account, `${reference} counted`, 3)),
          ledger.refund({ account, reference: `${reference} counted`, at: noon }),
          ledger.refund({ account, reference, part: { reference: "parts", credits: 1 }, at: noon }),
          ledger.hold(holdOf(account, reference, 1))
        ])
        const results = yield* Effect.forEach(attempts, (attempt) => Effect.result(attempt))
        assert.isTrue(results.some(Result.isSuccess))
        yield* ledger.expire({ at: noon })
        yield* assertSound
        yield* ledger.forget({ account, at: noon, limit: 4 })
        yield* assertSound
        const all = yield* readAll
        for (const name of [account, ...references]) assert.notInclude(namesIn(all), name)
        const found = new Map(all.flatMap(({ transactions }) => transactions).map((one) => [one.id, one]))
        const transactions = before.map(({ id }) => found.get(id)!)
        assert.deepStrictEqual(groupsOf(transactions), groupsOf(before))
        if (!ended) assert.strictEqual(new Set(transactions.map((one) => one.account)).size, 1)
      }
    }))
}

/** Registers tests of parts of charges. */
export const forgetBatchTests = (test: Register): void => {
  test("keeps the parts of a charge together in any size of batches", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      for (const limit of [1, 2, 7, 1_000]) {
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 100))
        yield* ledger.charge(chargeOf(account, "charged", 60))
        yield* ledger.charge(chargeOf(account, "charged\t", 3))
        for (const n of times(12)) {
          yield* ledger.refund({ account, reference: "charged", part: { reference: `${n}`, credits: 2 }, at: noon })
        }
        const before = yield* entriesOf(account)
        const { transactions: count } = yield* ledger.forget({ account, at: noon, limit })
        assert.strictEqual(count, before.length + 1)
        const found = (yield* readAll).flatMap(({ transactions }) => transactions)
        const transactions = before.map(({ id }) => found.find((one) => one.id === id)!)
        assert.deepStrictEqual(groupsOf(transactions), groupsOf(before))
        yield* assertSound
      }
    }))

  test("does not mix up a charge of which parts are left with a later one of the same reference", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const partOf = (reference: number) => ({
        account,
        reference: "job",
        part: { reference: `${reference}`, credits: 1 },
        at: noon
      })
      yield* ledger.grant(grantOf(account, 10))
      yield* ledger.charge(chargeOf(account, "job", 10))
      for (const n of times(6)) yield* ledger.refund(partOf(n))
      // The first batch closes the lot. The second one moves the charge and three of its parts.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(forgetAfter(2, account))))
      assert.strictEqual((yield* refusalOf(ledger.refund(partOf(7))))._tag, "UnknownCharge")
      yield* ledger.grant(grantOf(account, 20, { reference: "later" }))
      yield* ledger.charge(chargeOf(account, "job", 4))
      assert.strictEqual((yield* ledger.refund(partOf(0)))._tag, "Refunded")
      assert.strictEqual((yield* ledger.refund(partOf(5)))._tag, "AlreadyRefunded")
      assert.deepInclude(yield* ledger.refund({ account, reference: "job", at: noon }), { credits: 3 })
      yield* assertSound
      yield* ledger.forget({ account, at: noon })
      yield* assertSound
      for (const name of [account, "job", "later"]) assert.notInclude(namesIn(yield* readAll), name)
    }))
}

/** Registers the test of concurrent calls. */
export const forgetRaceTests = (test: Register): void => {
  test("happens once when 16 calls run at the same time, and charges that race them are forgotten or come later", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount
      const before = yield* entriesOf(account)
      const [forgotten] = yield* Effect.all([
        Effect.forEach(times(16), () => ledger.forget({ account, at: noon, limit: 3 }), { concurrency: "unbounded" }),
        Effect.forEach(
          times(40),
          (n) => Effect.result(ledger.charge(chargeOf(account, `race ${n}`, 1))),
          { concurrency: "unbounded" }
        ),
        Effect.result(ledger.capture({ account, reference: "held", at: noon }))
      ], { concurrency: "unbounded" })
      yield* assertSound
      yield* ledger.forget({ account, at: noon })
      assert.isAtLeast(forgotten.reduce((sum, { transactions }) => sum + transactions, 0), before.length)
      const all = yield* readAll
      for (const name of [account, ...times(40).map((n) => `race ${n}`)]) assert.notInclude(namesIn(all), name)
      const ids = new Set(before.map(({ id }) => id))
      const names = all.filter(({ transactions }) => transactions.some(({ id }) => ids.has(id)))
      assert.strictEqual(names.length, 1)
      yield* assertSound
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Forgets an account by batches of 4, and dies before the batch with this number. */
const forgetAfter = (batches: number, account: string) =>
  Effect.gen(function*() {
    const store = yield* LedgerStore
    let count = 0
    const broken = LedgerStore.of({
      ...store,
      lockAndFindOpen: (...args) => count++ === batches ? Effect.die("ended") : store.lockAndFindOpen(...args)
    })
    const ledger = LedgerModule.layerWith({}).pipe(
      Layer.provide([Layer.succeed(LedgerStore, broken), SecureRandom.layerWebCrypto])
    )
    return yield* Effect.provide(Ledger.use(({ forget }) => forget({ account, at: noon, limit: 4 })), ledger)
  })
