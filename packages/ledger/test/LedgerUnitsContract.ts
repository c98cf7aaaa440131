import { assert, layer } from "@effect/vitest"
import { type StorageError, UnitOfWork } from "@kinora/persistence"
import { Cause, DateTime, Effect, Exit, type Layer, Result } from "effect"
import { Ledger } from "../src/Ledger.ts"
import { after, chargeOf, grantOf, newAccount, noon, quotaChargeOf, times } from "./commands.ts"

/** What every backend of `Ledger` promises to units of work, and to many at once. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Units of the ledger (${name})`, (it) => {
    it.effect("lets a use-case drop a proposal and keep another", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 10))
        yield* atomically(Effect.gen(function*() {
          const charges = ["a", "b"].map((reference) => ({ account, reference }))
          const books = yield* ledger.open({ charges, at: noon })
          Result.getOrThrow(books.charge(chargeOf(account, "a", 10)))
          Result.getOrThrow(books.charge(chargeOf(account, "b", 10))).keep()
          yield* books.save
          yield* books.save
        }))
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 0)
        assert.deepStrictEqual((yield* ledger.entries({ account })).map(({ reference }) => reference), [
          "b",
          "period-1"
        ])
      }))

    it.effect("lets a unit charge and refund the same reference, and spend what it granted", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const account = newAccount()
        yield* atomically(Effect.gen(function*() {
          const books = yield* ledger.open({
            charges: ["a", "b"].map((reference) => ({ account, reference })),
            grants: [{ account, reference: "period-1" }],
            at: noon
          })
          Result.getOrThrow(books.grant(grantOf(account, 10))).keep()
          Result.getOrThrow(books.charge(chargeOf(account, "a", 10))).keep()
          yield* books.save
          Result.getOrThrow(books.refund({ account, reference: "a", at: noon })).keep()
          Result.getOrThrow(books.charge(chargeOf(account, "b", 3))).keep()
          yield* books.save
        }))
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 7)
        assert.deepStrictEqual(yield* ledger.verify({ account }), {
          accounts: 1,
          totals: { granted: 10, remaining: 7, consumed: 3, expired: 0 },
          discrepancies: [],
          next: undefined
        })
      }))

    it.effect("leaves nothing of a unit that rolls back", () =>
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
        assert.isTrue(Result.isSuccess(yield* ledger.charge(chargeOf(account, "job", 4))))
      }))

    it.effect("dies when it is opened outside a unit, or asked what was not announced", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const account = newAccount()
        const outside = yield* Effect.exit(ledger.open({ charges: [{ account, reference: "a" }], at: noon }))
        const unannounced = yield* Effect.exit(atomically(Effect.gen(function*() {
          const books = yield* ledger.open({ charges: [{ account, reference: "a" }], at: noon })
          return books.charge(chargeOf(account, "b", 1))
        })))
        const fraction = yield* Effect.exit(ledger.charge(chargeOf(account, "a", 0.5)))
        const negative = yield* Effect.exit(ledger.charge(chargeOf(account, "a", -1)))
        const died = (exit: Exit.Exit<unknown, unknown>) => Exit.isFailure(exit) && Cause.hasDies(exit.cause)
        assert.deepStrictEqual([outside, unannounced, fraction, negative].map(died), [true, true, true, true])
      }))

    it.effect("lets exactly 100 of 300 concurrent charges have 100 credits", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grantAll(times(4).map((n) => grantOf(account, 25, { reference: `${n}` })))
        const answers = yield* Effect.forEach(
          times(300),
          (n) =>
            n % 3 === 0
              ? ledger.chargeAll([chargeOf(account, `${n}`, 1)]).pipe(Effect.map(([answer]) => answer!))
              : ledger.charge(chargeOf(account, `${n}`, 1)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter(Result.isSuccess).length, 100)
        assert.deepStrictEqual(yield* ledger.verify({ account }), {
          accounts: 1,
          totals: { granted: 100, remaining: 0, consumed: 100, expired: 0 },
          discrepancies: [],
          next: undefined
        })
      }))

    it.effect("lets exactly the limit of concurrent charges have a day's quota", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const answers = yield* Effect.forEach(
          times(100),
          (n) => ledger.chargeAll([quotaChargeOf(account, `${n}`, 40)]),
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(answers.flat().filter(Result.isSuccess).length, 40)
      }))

    it.effect("refunds once when sixteen ask at once", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 10))
        yield* ledger.charge(chargeOf(account, "job", 6))
        const refund = { account, reference: "job", at: noon }
        const answers = yield* Effect.forEach(times(16), (n) =>
          n % 2 === 0 ? ledger.refundAll([refund]) : Effect.map(ledger.refund(refund), (one) => [one]), {
          concurrency: "unbounded"
        })
        const tags = answers.flat().map((answer) =>
          Result.getOrThrow(answer)._tag
        )
        assert.strictEqual(tags.filter((tag) => tag === "Refunded").length, 1)
        assert.strictEqual(tags.filter((tag) => tag === "AlreadyRefunded").length, 15)
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
      }))

    it.effect("either refunds a charge that races its refund, or says that there is none", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 100))
        const answers = yield* Effect.forEach(times(50), (n) =>
          Effect.all([
            ledger.chargeAll([chargeOf(account, `${n}`, 2)]),
            ledger.refundAll([{ account, reference: `${n}`, at: noon }])
          ], { concurrency: 2 }), { concurrency: "unbounded" })
        const kept = answers.filter(([, [refund]]) => Result.isFailure(refund!)).length
        assert.isTrue(answers.every(([[charge]]) => Result.isSuccess(charge!)))
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 100 - 2 * kept)
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      }))

    it.effect("makes accounts that many units ask for at once, in any order, and verifies them all", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const created = times(120).map(newAccount)
        const before = yield* ledger.verify()
        yield* Effect.forEach(times(12), (n) => {
          const rotated = [...created.slice(n * 10), ...created.slice(0, n * 10)]
          const set = n % 2 === 0 ? rotated : rotated.toReversed()
          return ledger.grantAll(set.slice(0, 60).map((account) => grantOf(account, 3)))
        }, { concurrency: "unbounded", discard: true })
        const after = yield* ledger.verify()
        assert.strictEqual(after.accounts - before.accounts, created.length)
        assert.strictEqual(after.totals.remaining - before.totals.remaining, 3 * created.length)
        assert.deepStrictEqual(after.discrepancies, [])
      }))

    it.effect("verifies all accounts page by page, as at once (D24)", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        yield* ledger.grantAll(times(7).map(() => grantOf(newAccount(), 3)))
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
        // A page that ends with the last account has none behind it.
        assert.isUndefined((yield* ledger.verify({ accountsMax: whole.accounts })).next)
        assert.isDefined((yield* ledger.verify({ accountsMax: whole.accounts - 1 })).next)
      }))

    it.effect("keeps sound books through a concurrent mix over many accounts", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const mine = times(5).map(newAccount)
        const pick = (n: number) => mine[(n * 7) % mine.length]!
        yield* ledger.grantAll(mine.map((account) => grantOf(account, 500, { reference: "long" })))
        yield* Effect.forEach(times(400), (n): Effect.Effect<unknown, StorageError.StorageError> => {
          const at = after({ hours: n % 72 })
          const account = pick(n)
          switch (n % 8) {
            case 0:
              return ledger.grantAll([pick(n), pick(n + 1), pick(n + 3)].map((account) =>
                grantOf(account, 20 + n % 5, {
                  reference: `${n % 40}`,
                  at,
                  expiresAt: DateTime.add(at, { hours: 1 + n % 30 })
                })
              ))
            case 1:
            case 2:
            case 3:
              return ledger.charge(chargeOf(account, `${n % 60}`, n % 9, { at }))
            case 4:
              return ledger.chargeAll(
                [pick(n + 2), pick(n)].map((account) => quotaChargeOf(account, `${n % 60}`, 9, at))
              )
            case 5:
              return ledger.expire({ at, limit: 20 })
            default:
              return ledger.refundAll(
                [pick(n + 1), account].map((account) => ({ account, reference: `${n % 40}`, at }))
              )
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
