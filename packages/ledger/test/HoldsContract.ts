import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, type Exit, type Layer, Result } from "effect"
import * as Books from "../src/Books.ts"
import { Ledger } from "../src/Ledger.ts"
import {
  AlreadyCharged,
  AlreadyHeld,
  CaptureDiffers,
  CaptureExceedsHold,
  HoldEnded,
  HoldExpired,
  InsufficientCredits,
  UnknownHold
} from "../src/LedgerError.ts"
import { accepted, adopt, after, chargeOf, grantOf, holdOf, newAccount, noon, refusalOf, times } from "./commands.ts"

/** The behaviour of holds on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Holds (${name})`, (it) => {
    it.effect("take credits as a charge does, which no other charge can use", () =>
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 16,
          held: 14,
          consumed: 0,
          expired: 0
        })
        assert.isTrue((yield* ledger.trialBalance).balanced)
      }))

    it.effect("are captured in part: the lots hold what a charge of that part leaves, and its refunds work", () =>
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 30,
          held: 0,
          consumed: 0,
          expired: 0
        })
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

    it.effect("are captured once: the same capture changes nothing, and another one is refused", () =>
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

    it.effect("are released once, and not captured afterwards", () =>
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 0,
          held: 0,
          consumed: 30,
          expired: 0
        })
      }))

    it.effect("reserve their reference while they are open, and are refused for a charged one", () =>
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

    it.effect("expire: they are not capturable from then on, and the sweep returns their credits", () =>
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 27,
          held: 0,
          consumed: 3,
          expired: 0
        })
      }))

    it.effect("are released, and make room for a charge, after they expired and before the sweep", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount()
        const expiresAt = after({ hours: 1 })
        yield* accepted(ledger.holdAll([
          holdOf(account, "released", 12, { expiresAt }),
          holdOf(account, "charged", 5, { expiresAt })
        ]))
        const released = yield* ledger.release({ account, reference: "released", at: expiresAt })
        assert.strictEqual(released._tag, "Released")
        yield* ledger.charge(chargeOf(account, "charged", 25, { at: expiresAt }))
        const refused = yield* refusalOf(ledger.capture({ account, reference: "charged", at: expiresAt }))
        assert.deepStrictEqual(refused, new HoldEnded({ reference: "charged", state: "expired" }))
        // By a command with an earlier time, for which the hold is open.
        const charged = yield* refusalOf(ledger.capture({ account, reference: "charged", at: noon }))
        assert.deepStrictEqual(charged, new AlreadyCharged({ reference: "charged" }))
        yield* sweep(expiresAt)
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 5,
          held: 0,
          consumed: 25,
          expired: 0
        })
      }))

    it.effect("are paid by lots that have expired since, and what is left of those becomes new lots", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account, lots: [a, b, c] } = yield* openAccount()
        yield* ledger.hold(holdOf(account, "job", 24, { expiresAt: after({ days: 7 }) }))
        const at = after({ days: 2 })
        yield* sweep(at)
        const captured = yield* ledger.capture({ account, reference: "job", credits: 13, at })
        if (captured._tag !== "Captured") return assert.fail(captured._tag)
        assert.deepStrictEqual(captured.parts, [{ lot: a!, credits: 10 }, { lot: b!, credits: 3 }])
        assert.deepStrictEqual(captured.returned.map(({ credits }) => credits), [7, 4])
        assert.strictEqual(captured.returned[1]!.lot, c)
        const { lots } = yield* ledger.balances(account, at)
        assert.deepStrictEqual(lots.map(({ expiresAt, kind, remaining }) => ({ kind, remaining, expiresAt })), [
          { kind: "plan", remaining: 10, expiresAt: after({ days: 3 }) },
          { kind: "refund", remaining: 7, expiresAt: after({ days: 32 }) }
        ])
        yield* ledger.refund({ account, reference: "job", at })
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 30,
          held: 0,
          consumed: 0,
          expired: 0
        })
      }))

    it.effect("keep the credits of a lot that is revoked, and return them as a new lot", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const { lot } = yield* ledger.grant(grantOf(account, 10, { kind: "trial", labels: ["watermark"] }))
        yield* ledger.hold(holdOf(account, "job", 6, { kindsAllowed: ["trial"] }))
        assert.deepStrictEqual(yield* ledger.revoke({ account, lot: lot.id, at: noon }), { credits: 4 })
        const captured = yield* ledger.capture({ account, reference: "job", credits: 2, at: noon })
        if (captured._tag !== "Captured") return assert.fail(captured._tag)
        assert.deepStrictEqual([captured.labels, captured.parts], [["watermark"], [{ lot: lot.id, credits: 2 }]])
        const { lots } = yield* ledger.balances(account, noon)
        assert.deepStrictEqual(lots.map(({ kind, labels, remaining }) => ({ kind, labels, remaining })), [
          { kind: "trial", remaining: 4, labels: ["watermark"] }
        ])
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 10,
          remaining: 4,
          held: 0,
          consumed: 2,
          expired: 4
        })
      }))

    it.effect("draw on lots for images and trial lots only if they may", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* accepted(ledger.grantAll([
          grantOf(account, 1, { reference: "images", purpose: "image" }),
          grantOf(account, 1, { reference: "trial", kind: "trial" })
        ]))
        const refused = yield* refusalOf(ledger.hold(holdOf(account, "a", 1)))
        assert.deepStrictEqual(refused, new InsufficientCredits({ required: 1, available: 0 }))
        yield* ledger.hold(holdOf(account, "b", 2, { purpose: "image", kindsAllowed: ["trial"] }))
        assert.deepStrictEqual(yield* balancesOf(account), [0, 2])
      }))

    it.effect("can have 0 credits, and be captured with 0", () =>
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

    it.effect("last at most as long as the ledger allows, and not into the past", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount()
        const within = { account, credits: 1, at: noon }
        const { expiresAt } = yield* ledger.hold({ ...within, reference: "a", within: "7 days" })
        assert.deepStrictEqual(expiresAt, after({ days: 7 }))
        yield* ledger.hold(holdOf(account, "b", 1, { expiresAt: after({ days: 7 }) }))
        const tooLong = [
          ledger.hold({ ...within, reference: "c", within: "604800001 millis" }),
          ledger.hold(holdOf(account, "c", 1, { expiresAt: after({ days: 7, milliseconds: 1 }) }))
        ]
        for (const call of tooLong) assert.isTrue(isDefect(yield* Effect.exit(call)))
        assert.deepStrictEqual(
          yield* refusalOf(ledger.hold(holdOf(account, "c", 1, { expiresAt: noon }))),
          new HoldExpired({ expiresAt: noon })
        )
        assert.deepStrictEqual(yield* balancesOf(account), [28, 2])
      }))

    it.effect("die if their credits are invalid", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount()
        yield* ledger.hold(holdOf(account, "job", 1))
        for (const credits of [-1, 0.5]) {
          assert.isTrue(isDefect(yield* Effect.exit(ledger.hold(holdOf(account, "other", credits)))))
          assert.isTrue(isDefect(yield* Effect.exit(ledger.capture({ account, reference: "job", credits, at: noon }))))
        }
        assert.deepStrictEqual(yield* balancesOf(account), [29, 1])
      }))

    it.effect("are decided on books, before and after they are saved", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 20,
          held: 0,
          consumed: 10,
          expired: 0
        })
      }))

    it.effect("end once when a single call ends one between load and save", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 10,
          held: 0,
          consumed: 20,
          expired: 0
        })
      }))

    it.effect("are undone with their unit of work", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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
        assert.deepStrictEqual(yield* totalsOf(account), {
          granted: 30,
          remaining: 20,
          held: 0,
          consumed: 10,
          expired: 0
        })
      }))
  })

/** An account with three lots of 10 credits, in spending order, which expire after 1, 2 and 3 days. */
const openAccount = Effect.fnUntraced(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  const granted = yield* accepted(ledger.grantAll(
    times(3).map((n) => grantOf(account, 10, { reference: `${n}`, expiresAt: after({ days: n + 1 }) }))
  ))
  return { account, lots: granted.map(({ lot }) => lot.id) }
})

/** Spendable and held credits. */
const balancesOf = (account: string, at = noon) =>
  Ledger.use((ledger) => ledger.balances(account, at)).pipe(Effect.map(({ credits, held }) => [credits, held]))

/** The totals of an account whose books are sound. */
const totalsOf = Effect.fnUntraced(function*(account: string) {
  const { discrepancies, totals } = yield* (yield* Ledger).verify({ account })
  assert.deepStrictEqual(discrepancies, [])
  return totals
})

/** Books all that has expired, also of other tests. */
const sweep = Effect.fnUntraced(function*(at: typeof noon) {
  const { expire } = yield* Ledger
  let swept
  do {
    swept = yield* expire({ at })
  } while (swept.lots + swept.holds > 0)
})

const isDefect = (exit: Exit.Exit<unknown, unknown>): boolean =>
  exit._tag === "Failure" && exit.cause.reasons.some(({ _tag }) => _tag === "Die")
