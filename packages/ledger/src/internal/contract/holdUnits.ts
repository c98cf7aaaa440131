/** Tests of holds in units of work. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import * as Books from "../../Books.ts"
import { Ledger } from "../../Ledger.ts"
import { UnknownHold } from "../reasons.ts"
import { accepted, adopt, chargeOf, holdOf, noon, refusalOf } from "./commands.ts"
import { assertTotals, balancesOf, openAccount } from "./heldAccounts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of decisions. */
export const holdDecisionTests = (test: Register): void => {
  test("are decided on books, before and after they are saved", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const { account } = yield* openAccount()
      const job = { account, reference: "job", at: noon }
      yield* atomically(Effect.gen(function*() {
        const names = ["job", "next"].map((reference) => ({ account, reference }))
        let books = yield* ledger.load({ holds: names, charges: names, at: noon })
        assert.throws(() => Books.hold(books, holdOf(account, "unknown", 1)), "was not requested")
        books = adopt(Books.hold(books, holdOf(account, "job", 20)))
        books = yield* ledger.save(adopt(Books.hold(books, holdOf(account, "next", 10))))
        assert.isTrue(Result.isFailure(Books.charge(books, chargeOf(account, "job", 0))))
        books = adopt(Books.capture(books, { ...job, credits: 15 }))
        books = adopt(Books.refund(books, { ...job, part: { reference: "a", credits: 5 } }))
        yield* ledger.save(adopt(Books.release(books, { ...job, reference: "next" })))
      }))
      yield* assertTotals(account, { consumed: 10 })
    }))

  test("end once when a single call ends one between load and save", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const { account } = yield* openAccount()
      const job = { account, reference: "job", at: noon }
      yield* ledger.hold(holdOf(account, "job", 20))
      const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
        const books = yield* ledger.load({ holds: [job], at: noon })
        yield* ledger.release(job)
        yield* ledger.save(adopt(Books.capture(books, job)))
      })))
      assert.strictEqual(exit._tag, "Failure")
      assert.deepStrictEqual(yield* balancesOf(account), [10, 20])
      yield* ledger.capture(job)
      yield* assertTotals(account, { consumed: 20 })
    }))
}

/** Registers the test of units that are undone. */
export const undoneHoldTests = (test: Register): void => {
  test("are undone with their unit of work", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const { account } = yield* openAccount()
      const job = (reference: string) => ({ account, reference, at: noon })
      yield* accepted(ledger.holdAll([holdOf(account, "a", 10), holdOf(account, "b", 10)]))
      const undone = atomically(Effect.gen(function*() {
        yield* ledger.hold(holdOf(account, "c", 10))
        yield* ledger.capture({ ...job("a"), credits: 4 })
        yield* ledger.release(job("b"))
        return yield* Effect.fail("undone")
      }))
      assert.strictEqual(yield* Effect.flip(undone), "undone")
      assert.deepStrictEqual(yield* balancesOf(account), [10, 20])
      const unknown = new UnknownHold({ reference: "c" })
      assert.deepStrictEqual(yield* refusalOf(ledger.capture(job("c"))), unknown)
      yield* ledger.capture(job("a"))
      yield* ledger.release(job("b"))
      yield* assertTotals(account, { consumed: 10 })
    }))
}
