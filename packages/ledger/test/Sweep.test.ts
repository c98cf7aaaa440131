import { assert, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence"
import { Cause, DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { accepted, grantOf, newAccount, times } from "../src/internal/contract/commands.ts"
import * as Ledger from "../src/Ledger.ts"

it.effect("books all expired lots after the interval, in units of the limit", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const account = newAccount()
    const at = yield* DateTime.now
    const expiresAt = DateTime.add(at, { seconds: 1 })
    yield* accepted(ledger.grantAll(times(7).map((n) => grantOf(account, 10, { reference: `${n}`, at, expiresAt }))))
    yield* Layer.build(Ledger.layerSweep({ limit: 3 }))
    const expired = Effect.map(ledger.verify({ account }), ({ totals }) => totals.expired)

    yield* TestClock.adjust("44 seconds")
    assert.strictEqual(yield* expired, 0)
    yield* TestClock.adjust("75 seconds")
    assert.strictEqual(yield* expired, 70)
  }).pipe(Effect.scoped, Effect.provide(Ledger.layerMemory)))

it.effect("returns the credits of all expired holds after the interval, in units of the limit", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const account = newAccount()
    const at = yield* DateTime.now
    yield* ledger.grant(grantOf(account, 70, { at, expiresAt: DateTime.add(at, { days: 30 }) }))
    const hold = { account, credits: 10, within: "1 second", at } as const
    yield* accepted(ledger.holdAll(times(7).map((n) => ({ ...hold, reference: `${n}` }))))
    yield* Layer.build(Ledger.layerSweep({ limit: 3 }))
    const heldNow = Effect.flatMap(DateTime.now, (at) => ledger.balances(account, at)).pipe(
      Effect.map(({ credits, held }) => [credits, held])
    )

    yield* TestClock.adjust("44 seconds")
    assert.deepStrictEqual(yield* heldNow, [0, 70])
    yield* TestClock.adjust("75 seconds")
    assert.deepStrictEqual(yield* heldNow, [70, 0])
  }).pipe(Effect.scoped, Effect.provide(Ledger.layerMemory)))

it.effect("runs again until nothing is left, since accounts that others have locked come last", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const left = [3, 1]
    let calls = 0
    const expire = () =>
      Effect.sync(() => {
        calls++
        return { lots: 0, credits: 0, holds: left.pop() ?? 0 }
      })
    yield* Layer.build(Ledger.layerSweep()).pipe(Effect.provideService(Ledger.Ledger, { ...ledger, expire }))
    yield* TestClock.adjust("75 seconds")
    assert.deepStrictEqual([left, calls], [[], 3])
  }).pipe(Effect.scoped, Effect.provide(Ledger.layerMemory)))

it.effect("continues after a failure", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    let calls = 0
    const failure = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })
    yield* Layer.build(Ledger.layerSweep()).pipe(
      Effect.provideService(Ledger.Ledger, {
        ...ledger,
        expire: () => Effect.suspend(() => (calls++, Effect.fail(failure)))
      })
    )
    yield* TestClock.adjust("75 seconds")
    yield* TestClock.adjust("75 seconds")
    assert.isAtLeast(calls, 2)
  }).pipe(Effect.scoped, Effect.provide(Ledger.layerMemory)))

it.effect("rejects a limit above the setMax of the ledger when the layer is built", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const build = (limit: number) =>
      Layer.build(Ledger.layerSweep({ limit })).pipe(
        Effect.provideService(Ledger.Ledger, { ...ledger, setMax: 100 }),
        Effect.scoped,
        Effect.sandbox,
        Effect.flip
      )
    for (const limit of [101, 0, 1.5]) {
      assert.include(
        String(Cause.squash(yield* build(limit))),
        `The limit of the sweep of expired lots must be a whole number from 1 to 100, got ${limit}`
      )
    }
    yield* Effect.scoped(
      Layer.build(Ledger.layerSweep({ limit: 100 })).pipe(
        Effect.provideService(Ledger.Ledger, { ...ledger, setMax: 100 })
      )
    )
  }).pipe(Effect.provide(Ledger.layerMemory)))
