import { assert, layer } from "@effect/vitest"
import { type StorageError, UnitOfWork } from "@kinora/persistence"
import { Cause, DateTime, Effect, Exit, type Layer, Result } from "effect"
import * as Books from "../src/Books.ts"
import { StaleBooks } from "../src/internal/stored.ts"
import { Ledger } from "../src/Ledger.ts"
import {
  accepted,
  adopt,
  after,
  assertNoUpdateLost,
  chargeOf,
  grantOf,
  newAccount,
  noon,
  quotaChargeOf,
  refusalOf,
  times
} from "./commands.ts"

/** The behaviour of `Ledger` on every backend in units of work and under concurrency. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Ledger in units of work (${name})`, (it) => {
    it.effect("writes only the decisions that a use-case adopts", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("charges and refunds one reference in a unit, and spends what the unit granted", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("fails to save books twice, or two books that were decided from one state", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("dies with StaleBooks if a quota was charged by another load that was saved first", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("dies with StaleBooks if a single call charged or refunded the quota between load and save", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("a unit that recovers from StaleBooks cannot commit", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const account = newAccount()
        const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
          const books = yield* ledger.load({ charges: [{ account, reference: "a" }], at: noon })
          yield* ledger.charge(quotaChargeOf(account, "b", 2))
          const saved = yield* Effect.exit(ledger.save(adopt(Books.charge(books, quotaChargeOf(account, "a", 2)))))
          assert.isTrue(Exit.isFailure(saved) && Cause.squash(saved.cause) instanceof StaleBooks, String(saved))
        })))
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitOfWork.UnitDoomed, String(exit))
        assert.deepStrictEqual(yield* ledger.entries({ account }), [])
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      }))

    it.effect("saves books repeatedly in a unit, and charges a quota again after a refund to 0", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("continues a unit after a refusal", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const account = newAccount()
        const refusal = yield* atomically(Effect.gen(function*() {
          yield* ledger.grant(grantOf(account, 10))
          return yield* refusalOf(ledger.charge(chargeOf(account, "a", 11)))
        }))
        assert.strictEqual(refusal._tag, "InsufficientCredits")
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
      }))

    it.effect("loses no update when a unit charges and refunds one account concurrently", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        yield* assertNoUpdateLost(atomically)
      }))

    it.effect("writes nothing if the unit rolls back", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("dies if books are loaded outside of a unit, or a command was not requested", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("accepts exactly 100 of 300 concurrent charges on 100 credits", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* accepted(ledger.grantAll(times(4).map((n) => grantOf(account, 25, { reference: `${n}` }))))
        const isCharged = (n: number): Effect.Effect<boolean, StorageError.StorageError> =>
          n % 3 === 0
            ? Effect.map(ledger.chargeAll([chargeOf(account, `${n}`, 1)]), ([result]) => Result.isSuccess(result!))
            : Effect.map(Effect.result(ledger.charge(chargeOf(account, `${n}`, 1))), Result.isSuccess)
        const charged = yield* Effect.forEach(times(300), isCharged, { concurrency: "unbounded" })
        assert.strictEqual(charged.filter((isCharged) => isCharged).length, 100)
        assert.deepStrictEqual(yield* ledger.verify({ account }), {
          accounts: 1,
          totals: { granted: 100, remaining: 0, held: 0, consumed: 100, expired: 0 },
          discrepancies: [],
          next: undefined
        })
      }))

    it.effect("accepts exactly as many concurrent charges as a quota allows", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const results = yield* Effect.forEach(
          times(100),
          (n) => ledger.chargeAll([quotaChargeOf(account, `${n}`, 40)]),
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(results.flat().filter(Result.isSuccess).length, 40)
      }))

    it.effect("refunds once when sixteen refunds run at the same time", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 10))
        yield* ledger.charge(chargeOf(account, "job", 6))
        const refund = { account, reference: "job", at: noon }
        const results = yield* Effect.forEach(times(16), (n) =>
          n % 2 === 0
            ? ledger.refundAll([refund]).pipe(Effect.map(([result]) => Result.getOrThrow(result!)))
            : ledger.refund(refund), { concurrency: "unbounded" })
        const tags = results.map(({ _tag }) => _tag)
        assert.strictEqual(tags.filter((tag) => tag === "Refunded").length, 1)
        assert.strictEqual(tags.filter((tag) => tag === "AlreadyRefunded").length, 15)
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
      }))

    it.effect("either refunds a charge that races its refund, or rejects the refund", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 100))
        const results = yield* Effect.forEach(times(50), (n) =>
          Effect.all([
            ledger.chargeAll([chargeOf(account, `${n}`, 2)]),
            ledger.refundAll([{ account, reference: `${n}`, at: noon }])
          ], { concurrency: 2 }), { concurrency: "unbounded" })
        const kept = results.filter(([, [refund]]) => Result.isFailure(refund!)).length
        assert.isTrue(results.every(([[charge]]) => Result.isSuccess(charge!)))
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 100 - 2 * kept)
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      }))

    it.effect("creates accounts that many units name at the same time in any order, and verifies them all", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const created = times(120).map(newAccount)
        const before = yield* ledger.verify()
        yield* Effect.forEach(times(12), (n) => {
          const rotated = [...created.slice(n * 10), ...created.slice(0, n * 10)]
          const set = n % 2 === 0 ? rotated : rotated.toReversed()
          return accepted(ledger.grantAll(set.slice(0, 60).map((account) => grantOf(account, 3))))
        }, { concurrency: "unbounded", discard: true })
        const after = yield* ledger.verify()
        assert.strictEqual(after.accounts - before.accounts, created.length)
        assert.strictEqual(after.totals.remaining - before.totals.remaining, 3 * created.length)
        assert.deepStrictEqual(after.discrepancies, [])
      }))

    it.effect("verifies all accounts page by page with the same result", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        yield* accepted(ledger.grantAll(times(7).map(() => grantOf(newAccount(), 3))))
        const whole = yield* ledger.verify()
        assert.isUndefined(whole.next)
        let accounts = 0
        let remaining = 0
        let after: string | undefined
        do {
          const page = yield* ledger.verify({ after, accountsMax: 5 })
          assert.isAtMost(page.accounts, 5)
          accounts += page.accounts
          remaining += page.totals.remaining
          after = page.next
        } while (after !== undefined)
        assert.deepStrictEqual([accounts, remaining], [whole.accounts, whole.totals.remaining])
        // No page follows one that ends with the last account.
        assert.isUndefined((yield* ledger.verify({ accountsMax: whole.accounts })).next)
        assert.isDefined((yield* ledger.verify({ accountsMax: whole.accounts - 1 })).next)
      }))

    it.effect("has sound books after a concurrent mix over many accounts", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const mine = times(5).map(newAccount)
        const pick = (n: number) => mine[(n * 7) % mine.length]!
        yield* accepted(ledger.grantAll(mine.map((account) => grantOf(account, 500, { reference: "long" }))))
        yield* Effect.forEach(times(400), (n): Effect.Effect<unknown, StorageError.StorageError> => {
          const at = after({ hours: n % 72 })
          const account = pick(n)
          switch (n % 8) {
            case 0:
              return Effect.asVoid(ledger.grantAll([pick(n), pick(n + 1), pick(n + 3)].map((account) =>
                grantOf(account, 20 + n % 5, {
                  reference: `${n % 40}`,
                  at,
                  expiresAt: DateTime.add(at, { hours: 1 + n % 30 })
                })
              )))
            case 1:
            case 2:
            case 3:
              return Effect.result(ledger.charge(chargeOf(account, `${n % 60}`, n % 9, { at })))
            case 4:
              return Effect.asVoid(ledger.chargeAll(
                [pick(n + 2), pick(n)].map((account) =>
                  quotaChargeOf(account, `${n % 60}`, 9, at)
                )
              ))
            case 5:
              return ledger.expire({ at, limit: 20 })
            default:
              return Effect.asVoid(ledger.refundAll(
                [pick(n + 1), account].map((account) => ({ account, reference: `${n % 40}`, at }))
              ))
          }
        }, { concurrency: 24, discard: true })
        for (const account of mine) {
          const { discrepancies, totals } = yield* ledger.verify({ account })
          assert.deepStrictEqual(discrepancies, [])
          assert.strictEqual(totals.granted, totals.remaining + totals.consumed + totals.expired)
          assert.isAbove(totals.consumed, 0)
        }
        const all = yield* ledger.verify()
        assert.isAtLeast(all.accounts, mine.length)
        assert.deepStrictEqual(all.discrepancies, [])
      }))
  })

/** Asserts that the unit died with `StaleBooks` and was rolled back to `used` charges to the quota. */
const assertStale = Effect.fnUntraced(function*(exit: Exit.Exit<void, unknown>, account: string, used: number) {
  assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StaleBooks, String(exit))
  const ledger = yield* Ledger
  assert.strictEqual((yield* ledger.balances(account, noon)).quotaUsed.get("image") ?? 0, used)
  assert.strictEqual((yield* ledger.entries({ account })).length, used)
  assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
})
