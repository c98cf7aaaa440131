/** Tests of holds. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import {
  AlreadyCharged,
  AlreadyHeld,
  CaptureDiffers,
  CaptureExceedsHold,
  HoldEnded,
  InsufficientCredits,
  UnknownHold
} from "../reasons.ts"
import { accepted, after, chargeOf, holdOf, noon, refusalOf } from "./commands.ts"
import { assertTotals, balancesOf, openAccount, sweep } from "./heldAccounts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of holds and captures. */
export const holdTests = (test: Register): void => {
  test("take credits as a charge does, which no other charge can use", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, lots: [a, b] } = yield* openAccount()
      assert.deepStrictEqual(yield* ledger.hold(holdOf(account, "job", 14)), {
        _tag: "Held",
        credits: 14,
        parts: [{ lot: a!, credits: 10 }, { lot: b!, credits: 4 }],
        expiresAt: after({ days: 2 })
      })
      assert.deepStrictEqual(yield* balancesOf(account), [16, 14])
      const insufficient = new InsufficientCredits({ required: 17, available: 16 })
      assert.deepStrictEqual(yield* refusalOf(ledger.charge(chargeOf(account, "other", 17))), insufficient)
      assert.deepStrictEqual(yield* refusalOf(ledger.hold(holdOf(account, "other", 17))), insufficient)
      yield* assertTotals(account, { held: 14 })
      assert.isTrue((yield* ledger.trialBalance).balanced)
    }))

  test("are captured in part: the lots hold what a charge of that part leaves, and its refunds work", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, lots: [a, b, c] } = yield* openAccount()
      yield* ledger.hold(holdOf(account, "job", 24))
      assert.deepStrictEqual(yield* ledger.capture({ account, reference: "job", credits: 13, at: noon }), {
        _tag: "Captured",
        credits: 13,
        parts: [{ lot: a!, credits: 10 }, { lot: b!, credits: 3 }],
        labels: [],
        returned: [{ lot: b!, credits: 7 }, { lot: c!, credits: 4 }]
      })
      assert.deepStrictEqual(yield* balancesOf(account), [17, 0])
      const part = { reference: "unused", credits: 4 }
      assert.deepStrictEqual(yield* ledger.refund({ account, reference: "job", part, at: noon }), {
        _tag: "Refunded",
        credits: 4,
        parts: [{ lot: a!, credits: 1 }, { lot: b!, credits: 3 }]
      })
      yield* ledger.refund({ account, reference: "job", at: noon })
      yield* assertTotals(account, { consumed: 0 })
      const listed = yield* ledger.entries({ account, reference: "job" })
      assert.deepStrictEqual(listed.map(({ amount, kind }) => [kind, amount]), [
        ["refund", 9],
        ["refund", 4],
        ["charge", 13],
        ["release", 24],
        ["hold", 24]
      ])
      assert.strictEqual(listed[3]!.reverses, listed[4]!.id)
    }))
}

/** Registers tests of holds that end. */
export const endedHoldTests = (test: Register): void => {
  test("are captured once: the same capture changes nothing, and another one is refused", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount()
      const all = { account, reference: "job", at: noon }
      yield* ledger.hold(holdOf(account, "job", 12))
      const exceeds = new CaptureExceedsHold({ reference: "job", credits: 13, held: 12 })
      assert.deepStrictEqual(yield* refusalOf(ledger.capture({ ...all, credits: 13 })), exceeds)
      yield* ledger.capture({ ...all, credits: 5 })
      const again = yield* ledger.capture({ ...all, credits: 5 })
      assert.deepStrictEqual(again, { _tag: "AlreadyCaptured", credits: 5 })
      // Also after its expiry.
      assert.deepStrictEqual(yield* ledger.capture({ ...all, credits: 5, at: after({ days: 3 }) }), again)
      const differs = new CaptureDiffers({ reference: "job", credits: 12, captured: 5 })
      assert.deepStrictEqual(yield* refusalOf(ledger.capture(all)), differs)
      const ended = new HoldEnded({ reference: "job", state: "captured" })
      assert.deepStrictEqual(yield* refusalOf(ledger.release(all)), ended)
      const charged = new AlreadyCharged({ reference: "job" })
      assert.deepStrictEqual(yield* refusalOf(ledger.charge(chargeOf(account, "job", 1))), charged)
      const expiresAt = after({ days: 2 })
      const held = new AlreadyHeld({ reference: "job", credits: 12, expiresAt, state: "captured" })
      assert.deepStrictEqual(yield* refusalOf(ledger.hold(holdOf(account, "job", 12))), held)
      assert.deepStrictEqual(yield* balancesOf(account), [25, 0])
    }))

  test("are released once, and not captured afterwards", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, lots: [a, b] } = yield* openAccount()
      const job = { account, reference: "job", at: noon }
      yield* ledger.hold(holdOf(account, "job", 12))
      assert.deepStrictEqual(yield* ledger.release(job), {
        _tag: "Released",
        credits: 12,
        parts: [{ lot: a!, credits: 10 }, { lot: b!, credits: 2 }]
      })
      assert.deepStrictEqual(yield* ledger.release(job), { _tag: "AlreadyReleased" })
      const ended = new HoldEnded({ reference: "job", state: "released" })
      assert.deepStrictEqual(yield* refusalOf(ledger.capture(job)), ended)
      const unknown = new UnknownHold({ reference: "none" })
      assert.deepStrictEqual(yield* refusalOf(ledger.release({ ...job, reference: "none" })), unknown)
      assert.deepStrictEqual(yield* refusalOf(ledger.capture({ ...job, reference: "none" })), unknown)
      // The reference is free for a charge, and not for another hold.
      assert.strictEqual((yield* refusalOf(ledger.hold(holdOf(account, "job", 1))))._tag, "AlreadyHeld")
      yield* ledger.charge(chargeOf(account, "job", 30))
      yield* assertTotals(account, { consumed: 30 })
    }))
}

/** Registers tests of references, expiry and amounts of 0. */
export const holdReferenceTests = (test: Register): void => {
  test("reserve their reference while they are open, and are refused for a charged one", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount()
      yield* ledger.hold(holdOf(account, "job", 1))
      const held = new AlreadyHeld({ reference: "job", credits: 1, expiresAt: after({ days: 2 }), state: "open" })
      assert.deepStrictEqual(yield* refusalOf(ledger.charge(chargeOf(account, "job", 1))), held)
      assert.deepStrictEqual(yield* refusalOf(ledger.hold(holdOf(account, "job", 1))), held)
      yield* ledger.charge(chargeOf(account, "charged", 1))
      const charged = new AlreadyCharged({ reference: "charged" })
      assert.deepStrictEqual(yield* refusalOf(ledger.hold(holdOf(account, "charged", 1))), charged)
    }))

  test("expire: they are not capturable from then on, and the sweep returns their credits", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount()
      yield* ledger.hold(holdOf(account, "job", 12, { expiresAt: after({ hours: 1 }) }))
      yield* ledger.hold(holdOf(account, "later", 3, { expiresAt: after({ hours: 1, milliseconds: 1 }) }))
      const at = after({ hours: 1 })
      const job = { account, reference: "job", at }
      const ended = new HoldEnded({ reference: "job", state: "expired" })
      assert.deepStrictEqual(yield* refusalOf(ledger.capture(job)), ended)
      // Not by a sweep yet.
      assert.deepStrictEqual(yield* balancesOf(account, at), [15, 15])
      yield* sweep(at)
      assert.deepStrictEqual(yield* balancesOf(account, at), [27, 3])
      assert.deepStrictEqual(yield* refusalOf(ledger.capture({ ...job, at: noon })), ended)
      assert.deepStrictEqual(yield* ledger.release(job), { _tag: "AlreadyReleased" })
      yield* ledger.capture({ ...job, reference: "later" })
      yield* assertTotals(account, { consumed: 3 })
    }))

  test("can have 0 credits, and be captured with 0", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount()
      yield* accepted(ledger.holdAll([holdOf(account, "free", 0), holdOf(account, "unused", 5)]))
      const captured = yield* accepted(ledger.captureAll([
        { account, reference: "free", at: noon },
        { account, reference: "unused", credits: 0, at: noon }
      ]))
      assert.deepStrictEqual(captured.map(({ credits }) => credits), [0, 0])
      assert.deepStrictEqual(yield* ledger.refund({ account, reference: "free", at: noon }), {
        _tag: "Refunded",
        credits: 0,
        parts: []
      })
      assert.deepStrictEqual(yield* balancesOf(account), [30, 0])
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))
}
