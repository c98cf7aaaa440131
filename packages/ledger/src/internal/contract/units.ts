/** Tests of units of work. */
import { assert } from "@effect/vitest"
import { UnitDoomed, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, Effect, Exit } from "effect"
import * as Books from "../../Books.ts"
import { Ledger } from "../../Ledger.ts"
import { StaleBooks } from "../stored.ts"
import { adopt, chargeOf, grantOf, newAccount, noon, quotaChargeOf, refusalOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of decisions. */
export const decisionTests = (test: Register): void => {
  test("writes only the decisions that a use-case adopts", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 10))
      yield* atomically(Effect.gen(function*() {
        const charges = ["a", "b"].map((reference) => ({ account, reference }))
        const books = yield* ledger.load({ charges, at: noon })
        adopt(Books.charge(books, chargeOf(account, "a", 10)))
        const saved = yield* ledger.save(adopt(Books.charge(books, chargeOf(account, "b", 10))))
        yield* ledger.save(saved)
      }))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 0)
      assert.deepStrictEqual((yield* ledger.entries({ account })).map(({ reference }) => reference), [
        "b",
        "period-1"
      ])
    }))

  test("charges and refunds one reference in a unit, and spends what the unit granted", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      yield* atomically(Effect.gen(function*() {
        let books = yield* ledger.load({
          charges: ["a", "b"].map((reference) => ({ account, reference })),
          grants: [{ account, reference: "period-1" }],
          at: noon
        })
        books = adopt(Books.grant(books, grantOf(account, 10)))
        books = adopt(Books.charge(books, chargeOf(account, "a", 10)))
        books = yield* ledger.save(books)
        books = adopt(Books.refund(books, { account, reference: "a", at: noon }))
        books = adopt(Books.charge(books, chargeOf(account, "b", 3)))
        yield* ledger.save(books)
      }))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 7)
      assert.deepStrictEqual(yield* ledger.verify({ account }), {
        accounts: 1,
        totals: { granted: 10, remaining: 7, held: 0, consumed: 3, expired: 0 },
        discrepancies: [],
        next: undefined
      })
    }))
}

/** Registers tests of books that are saved twice or too late. */
export const staleTests = (test: Register): void => {
  test("fails to save books twice, or two books that were decided from one state", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 10))
      const charges = ["a", "b"].map((reference) => ({ account, reference }))
      const saveBoth = (second: "a" | "b") =>
        atomically(Effect.gen(function*() {
          const books = yield* ledger.load({ charges, at: noon })
          yield* ledger.save(adopt(Books.charge(books, chargeOf(account, "a", 3))))
          yield* ledger.save(adopt(Books.charge(books, chargeOf(account, second, 3))))
        }))
      for (const second of ["a", "b"] as const) assert.isTrue(Exit.isFailure(yield* Effect.exit(saveBoth(second))))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))

  test("dies with StaleBooks if a quota was charged by another load that was saved first", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      for (const used of [0, 1]) {
        const account = newAccount()
        if (used === 1) yield* ledger.charge(quotaChargeOf(account, "early", used + 1))
        const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
          const one = yield* ledger.load({ charges: [{ account, reference: "a" }], at: noon })
          const other = yield* ledger.load({ charges: [{ account, reference: "b" }], at: noon })
          yield* ledger.save(adopt(Books.charge(one, quotaChargeOf(account, "a", used + 1))))
          yield* ledger.save(adopt(Books.charge(other, quotaChargeOf(account, "b", used + 1))))
        })))
        yield* assertStale(exit, account, used)
      }
    }))

  test("dies with StaleBooks if a single call charged or refunded the quota between load and save", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const calls = [
        { used: 0, call: (account: string) => ledger.charge(quotaChargeOf(account, "b", 1)) },
        { used: 1, call: (account: string) => ledger.charge(quotaChargeOf(account, "b", 2)) },
        { used: 1, call: (account: string) => ledger.refund({ account, reference: "early", at: noon }) }
      ]
      for (const { call, used } of calls) {
        const account = newAccount()
        if (used === 1) yield* ledger.charge(quotaChargeOf(account, "early", used + 1))
        const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
          const books = yield* ledger.load({ charges: [{ account, reference: "a" }], at: noon })
          const charged = adopt(Books.charge(books, quotaChargeOf(account, "a", used + 1)))
          yield* call(account)
          yield* ledger.save(charged)
        })))
        yield* assertStale(exit, account, used)
      }
    }))
}

/** Registers tests of books that are saved repeatedly, or not. */
export const savedAgainTests = (test: Register): void => {
  test("a unit that recovers from StaleBooks cannot commit", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
        const books = yield* ledger.load({ charges: [{ account, reference: "a" }], at: noon })
        yield* ledger.charge(quotaChargeOf(account, "b", 2))
        const saved = yield* Effect.exit(ledger.save(adopt(Books.charge(books, quotaChargeOf(account, "a", 2)))))
        assert.isTrue(Exit.isFailure(saved) && Cause.squash(saved.cause) instanceof StaleBooks, String(saved))
      })))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitDoomed, String(exit))
      assert.deepStrictEqual(yield* ledger.entries({ account }), [])
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))

  test("saves books repeatedly in a unit, and charges a quota again after a refund to 0", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      yield* atomically(Effect.gen(function*() {
        const charges = ["a", "b", "c", "d"].map((reference) => ({ account, reference }))
        let books = yield* ledger.load({ charges, at: noon })
        books = yield* ledger.save(adopt(Books.charge(books, quotaChargeOf(account, "a", 2))))
        books = yield* ledger.save(adopt(Books.refund(books, { account, reference: "a", at: noon })))
        books = yield* ledger.save(adopt(Books.charge(books, quotaChargeOf(account, "b", 2))))
        books = adopt(Books.charge(books, quotaChargeOf(account, "c", 2)))
        yield* ledger.save(adopt(Books.charge(books, quotaChargeOf(account, "d", 2, noon, "video"))))
      }))
      const { quotaUsed } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual([quotaUsed.get("image"), quotaUsed.get("video")], [2, 1])
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))

  test("continues a unit after a refusal", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      const refusal = yield* atomically(Effect.gen(function*() {
        yield* ledger.grant(grantOf(account, 10))
        return yield* refusalOf(ledger.charge(chargeOf(account, "a", 11)))
      }))
      assert.strictEqual(refusal._tag, "InsufficientCredits")
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
    }))
}

/** Registers tests of units that are undone. */
export const undoneTests = (test: Register): void => {
  test("writes nothing if the unit rolls back", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 10))
      const unit = atomically(Effect.gen(function*() {
        yield* ledger.charge(chargeOf(account, "job", 4))
        yield* ledger.charge(quotaChargeOf(account, "quota", 4))
        yield* ledger.grant(grantOf(account, 10, { reference: "period-2" }))
        return yield* Effect.fail("no")
      }))
      assert.strictEqual(yield* Effect.flip(unit), "no")
      const { credits, quotaUsed } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual([credits, quotaUsed.size], [10, 0])
      assert.strictEqual((yield* ledger.entries({ account })).length, 1)
      assert.strictEqual((yield* ledger.charge(chargeOf(account, "job", 4)))._tag, "ChargedCredits")
    }))

  test("dies if books are loaded outside of a unit, or a command was not requested", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const account = newAccount()
      const outside = yield* Effect.exit(ledger.load({ charges: [{ account, reference: "a" }], at: noon }))
      const unrequested = yield* Effect.exit(atomically(Effect.gen(function*() {
        const books = yield* ledger.load({ charges: [{ account, reference: "a" }], at: noon })
        return Books.charge(books, chargeOf(account, "b", 1))
      })))
      const fraction = yield* Effect.exit(ledger.charge(chargeOf(account, "a", 0.5)))
      const negative = yield* Effect.exit(ledger.charge(chargeOf(account, "a", -1)))
      const died = (exit: Exit.Exit<unknown, unknown>) => Exit.isFailure(exit) && Cause.hasDies(exit.cause)
      assert.deepStrictEqual([outside, unrequested, fraction, negative].map(died), [true, true, true, true])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Asserts that the unit died with `StaleBooks` and was rolled back to `used` charges to the quota. */
const assertStale = Effect.fnUntraced(function*(exit: Exit.Exit<void, unknown>, account: string, used: number) {
  assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StaleBooks, String(exit))
  const ledger = yield* Ledger
  assert.strictEqual((yield* ledger.balances(account, noon)).quotaUsed.get("image") ?? 0, used)
  assert.strictEqual((yield* ledger.entries({ account })).length, used)
  assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
})
