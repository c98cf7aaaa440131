/** Tests of holds at the same time. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import { accepted, after, chargeOf, concurrently, grantOf, holdOf, newAccount, noon, times } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of captures, releases and charges. */
export const holdRaceTests = (test: Register): void => {
  test("end once when 64 captures and releases of one hold run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      for (const round of times(4)) {
        const account = yield* openAccount(100)
        yield* ledger.hold(holdOf(account, "job", 60))
        const job = { account, reference: "job", at: noon }
        const results = yield* concurrently(
          times(64).map((n): Effect.Effect<string> => {
            if ((n + round) % 2 === 0) return tagOf(ledger.release(job))
            const capture = { ...job, credits: 20 + n % 4 }
            return n % 3 === 0
              ? tagOf(Effect.flatMap(ledger.captureAll([capture]), ([result]) => Effect.fromResult(result!)))
              : tagOf(ledger.capture(capture))
          })
        )
        const done = results.filter((tag) => tag !== "refused")
        const ended = done.filter((tag) => tag === "Captured" || tag === "Released")
        assert.strictEqual(ended.length, 1)
        // The same end succeeds again, and the other one is refused.
        const repeated = ended[0] === "Captured" ? "AlreadyCaptured" : "AlreadyReleased"
        assert.deepStrictEqual(new Set(done), new Set([ended[0], repeated]))
        const { discrepancies, totals } = yield* ledger.verify({ account })
        assert.deepStrictEqual([discrepancies, totals.held], [[], 0])
        assert.strictEqual(totals.consumed === 0, ended[0] === "Released")
        assert.strictEqual(totals.remaining, 100 - totals.consumed)
      }
      assert.isTrue((yield* ledger.trialBalance).balanced)
    }))

  test("leave exactly the other credits to charges that race them", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount(100)
      const results = yield* concurrently(
        times(160).map((n) =>
          n % 2 === 0
            ? Effect.result(Effect.map(ledger.hold(holdOf(account, `${n}`, 2)), () => 2))
            : Effect.result(Effect.map(ledger.charge(chargeOf(account, `${n}`, 1)), () => 1))
        )
      )
      const taken = results.reduce((sum, result) => sum + (Result.isSuccess(result) ? result.success : 0), 0)
      assert.strictEqual(taken, 100)
      const { credits, held } = yield* ledger.balances(account, noon)
      const { discrepancies, totals } = yield* ledger.verify({ account })
      assert.deepStrictEqual([credits, held + totals.consumed, discrepancies], [0, 100, []])
    }))
}

/** Registers tests of sweeps and of many holds. */
export const manyHoldTests = (test: Register): void => {
  test("return and charge all their credits when captures, releases, refunds and a sweep run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount(100)
      const names = times(20).map((n) => `${n}`)
      yield* accepted(
        ledger.holdAll(names.map((reference) =>
          holdOf(account, reference, 5, {
            expiresAt: after({ hours: Number(reference) % 2 }),
            at: after({ hours: -1 })
          })
        ))
      )
      yield* concurrently<Effect.Effect<unknown, unknown>>([
        ...names.map((reference) => Effect.result(ledger.capture({ account, reference, credits: 3, at: noon }))),
        ...names.map((reference) => Effect.result(ledger.release({ account, reference, at: noon }))),
        ...names.map((reference) => Effect.result(ledger.refund({ account, reference, at: noon }))),
        ...times(4).map(() => ledger.expire({ at: noon }))
      ])
      yield* accepted(ledger.releaseAll([]))
      while ((yield* ledger.expire({ at: after({ hours: 2 }) })).holds > 0);
      const { discrepancies, totals } = yield* ledger.verify({ account })
      assert.deepStrictEqual([discrepancies, totals.held, totals.remaining + totals.consumed], [[], 0, 100])
    }))

  test("are at most as many as an account may have, also when they are requested at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = yield* openAccount(100)
      // The default is 1,000 holds.
      yield* accepted(ledger.holdAll(times(990).map((n) => holdOf(account, `${n}`, 0))))
      const results = yield* concurrently(
        times(30).map((n) => Effect.result(ledger.hold(holdOf(account, `more ${n}`, 1))))
      )
      assert.strictEqual(results.filter(Result.isSuccess).length, 10)
      yield* ledger.release({ account, reference: "0", at: noon })
      yield* ledger.hold(holdOf(account, "another", 1))
      const refused = yield* Effect.flip(ledger.hold(holdOf(account, "too many", 1)))
      assert.strictEqual(refused._tag === "LedgerError" && refused.reason._tag, "TooManyHolds")
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const openAccount = Effect.fnUntraced(function*(credits: number) {
  const account = newAccount()
  yield* (yield* Ledger).grant(grantOf(account, credits, { at: after({ hours: -1 }) }))
  return account
})

/** The tag of the result of a command, or `refused`. */
const tagOf = <Refusal extends { readonly _tag: string }>(
  call: Effect.Effect<{ readonly _tag: string }, Refusal>
): Effect.Effect<string> =>
  Effect.matchEffect(call, {
    onSuccess: ({ _tag }) => Effect.succeed(_tag),
    onFailure: (error) => error._tag === "StorageError" ? Effect.die(error) : Effect.succeed("refused")
  })
