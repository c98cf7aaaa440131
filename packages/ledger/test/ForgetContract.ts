import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Exit, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { isLot } from "../src/internal/Book.ts"
import * as LedgerModule from "../src/Ledger.ts"
import { Ledger } from "../src/Ledger.ts"
import { LedgerStore } from "../src/LedgerStore.ts"
import type { Transaction } from "../src/Transaction.ts"
import {
  accepted,
  after,
  chargeOf,
  grantOf,
  holdOf,
  newAccount,
  noon,
  quotaChargeOf,
  refusalOf,
  times
} from "./commands.ts"

/** How an account is forgotten, on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | LedgerStore | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Forgetting an account (${name})`, (it) => {
    it.effect("replaces its name and references, and keeps amounts, times and links", () =>
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

    it.effect("deletes metadata", () =>
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

    it.effect("keeps the terms of lots, also of those that it opens for held credits and closes", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const store = yield* LedgerStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("leaves a name as unknown as one that was never used", () =>
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

    it.effect("does nothing if the account is unknown, or was forgotten before", () =>
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

    it.effect("gives the account a name that commands cannot use", () =>
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

    it.effect("is undone with the unit of its caller, and commits with it", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("continues after a call that ended between two batches, and books stay sound in between", () =>
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

    it.effect("keeps the parts of a charge together in any size of batches", () =>
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

    it.effect("does not mix up a charge of which parts are left with a later one of the same reference", () =>
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

    it.effect("happens once when 16 calls run at the same time, and charges that race them are forgotten or come later", () =>
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
  })

const references = [
  "granted",
  "granted too",
  "charged",
  "charged by a trial",
  "parts",
  "counted",
  "counted back",
  "held",
  "captured",
  "released"
]

/** Opens an account with transactions of all kinds, an open hold of 5 credits, and two lots with 66 credits. */
const openAccount = Effect.gen(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  yield* accepted(ledger.grantAll([
    grantOf(account, 100, { reference: "granted" }),
    grantOf(account, 10, { reference: "granted too", kind: "trial" }),
    grantOf(account, 4, { reference: "granted for an hour", at: after({ hours: -2 }), expiresAt: after({ hours: -1 }) })
  ]))
  yield* ledger.expire({ at: noon })
  yield* accepted(ledger.chargeAll([
    chargeOf(account, "charged", 20),
    chargeOf(account, "parts", 9),
    chargeOf(account, "charged by a trial", 112 - 40, { kindsAllowed: ["trial"] }),
    quotaChargeOf(account, "counted", 3),
    quotaChargeOf(account, "counted before", 3, after({ days: -1 })),
    quotaChargeOf(account, "counted back", 3)
  ]))
  yield* ledger.refund({ account, reference: "charged by a trial", at: noon })
  yield* ledger.refund({ account, reference: "counted back", at: noon })
  yield* ledger.refund({ account, reference: "parts", part: { reference: "charged", credits: 2 }, at: noon })
  yield* ledger.refund({ account, reference: "parts", part: { reference: "parts", credits: 3 }, at: noon })
  yield* accepted(ledger.holdAll([
    holdOf(account, "held", 5),
    holdOf(account, "captured", 12),
    holdOf(account, "released", 6)
  ]))
  yield* ledger.capture({ account, reference: "captured", credits: 10, at: noon })
  yield* ledger.release({ account, reference: "released", at: noon })
  yield* ledger.charge(chargeOf(account, "released", 5))
  return account
})

const entriesOf = (account: string) => Effect.flatMap(Ledger, ({ entries }) => entries({ account, limit: 1_000 }))

/** All accounts with their transactions. */
const readAll = Effect.gen(function*() {
  const store = yield* LedgerStore
  return yield* Effect.forEach(
    yield* store.findAccounts("", 1_000_000),
    (account) => Effect.map(entriesOf(account), (transactions) => ({ account, transactions }))
  )
})

/** All names of accounts, references, parts, and books without their class. */
const namesIn = (all: Effect.Success<typeof readAll>): ReadonlyArray<string> =>
  all.flatMap(({ account, transactions }) => [
    account,
    ...transactions.flatMap(({ entries, part = "", reference }) => [
      reference,
      part,
      ...entries.flatMap(({ from, to }) => [from, to].map((book) => book.slice(book.indexOf(":") + 1)))
    ])
  ])

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

/** The transactions by those that share a reference, and by those that share the book of a hold. */
const groupsOf = (transactions: ReadonlyArray<Transaction>) => {
  const groups = (keysOf: (transaction: Transaction) => ReadonlyArray<string>) =>
    Array.from(
      Map.groupBy(transactions.flatMap((one) => keysOf(one).map((key) => [key, one.id] as const)), ([key]) => key)
        .values(),
      (group) => group.map(([, id]) => id).toSorted().join()
    ).toSorted()
  return [
    groups(({ kind, reference }) => kind === "grant" || kind === "expire" ? [] : [reference]),
    groups(({ entries }) => entries.flatMap(({ from, to }) => [from, to]).filter((book) => book.startsWith("held:"))),
    groups(({ kind, part, reference }) => [`${kind} ${reference} ${part}`])
  ]
}

const assertSound = Effect.gen(function*() {
  const ledger = yield* Ledger
  assert.deepStrictEqual((yield* ledger.verify({ discrepanciesMax: 10 })).discrepancies, [])
  assert.isTrue((yield* ledger.trialBalance).balanced)
})

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
