import { assert, it } from "@effect/vitest"
import type { Decision } from "@kinora/persistence/Decision"
import { Arbitrary, DateTime, Duration, HashMap, Result, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as Book from "../src/internal/Book.ts"
import * as State from "../src/internal/booksState.ts"
import * as Day from "../src/internal/Day.ts"
import { expireLot } from "../src/internal/expire.ts"
import { expireHold } from "../src/internal/holds.ts"
import * as IdSequence from "../src/internal/IdSequence.ts"
import * as Lots from "../src/internal/lots.ts"
import { audit } from "../src/internal/memory/audit.ts"
import { InsufficientCredits } from "../src/internal/reasons.ts"
import { revokeLot } from "../src/internal/revokeLot.ts"
import { defaultKinds, type LotId, type LotKind } from "../src/Lot.ts"
import {
  atHour,
  type Command,
  command,
  decideAny,
  end,
  type LotKinds,
  lotKinds,
  namesIn,
  partOf,
  referenceOf,
  referencesMax,
  start
} from "./BooksCommand.ts"
import * as Model from "./Model.ts"
import { makeShelf } from "./Shelf.ts"

const refundHours = 48
const holdsMax = 4
const firstUuid = "01890a5d-ac96-774b-8000-000000000000"

const requested = ["ann", "bob"].flatMap((account) =>
  Array.from({ length: referencesMax + 1 }, (_, n) => `${n}`).flatMap((reference) => [
    { account, kind: "charge", reference } as const,
    { account, kind: "grant", reference } as const,
    { account, kind: "hold", reference } as const
  ])
)

const open = (
  loaded: State.BooksOptions["loaded"],
  ids = IdSequence.from(firstUuid),
  lotRules = Lots.makeRules({})
): Books.Books =>
  State.make({
    loaded,
    requested,
    at: start,
    until: end,
    refundLifetime: Duration.hours(refundHours),
    holdLifetimeMax: Duration.hours(24),
    holdsMax,
    lotRules,
    ids
  })

const nothing = { lots: [], quotas: [], transactions: [], holds: [], openHolds: [] }

const emptyOf = (lotKinds: Readonly<Record<string, LotKind>>) => open(nothing, undefined, Lots.makeRules({ lotKinds }))

const empty = open(nothing)

/** Everything that the books contain. */
const contentOf = (books: Books.Books) => {
  const accounts = Array.from(HashMap.values(books.accounts))
  return {
    lots: accounts.flatMap(({ lots }) => lots),
    quotas: accounts.flatMap(({ quotas }) => quotas),
    transactions: accounts.flatMap(({ transactions }) => Array.from(HashMap.values(transactions))),
    holds: accounts.flatMap(({ holds }) => Array.from(HashMap.values(holds))),
    openHolds: []
  }
}

/** The content and the changes as text, which later mutations do not affect. */
const printed = (books: Books.Books) => JSON.stringify([contentOf(books), State.changesOf(books)])

/** Runs the commands on the books and on the model, and compares the results of each. */
const play = (kinds: LotKinds, commands: ReadonlyArray<Command>) => {
  const model = Model.make({ refundHours, holdsMax, kinds })
  const shelf = makeShelf()
  /** The model's name of each lot. */
  const names = new Map<LotId, string>()
  let books = emptyOf(kinds)
  let hour = 8

  const saveAndLoad = () => {
    shelf.put(State.changesOf(books))
    assert.deepStrictEqual(State.changesOf(State.markSaved(books)), {
      openedLots: [],
      changedLots: [],
      quotas: [],
      transactions: [],
      openedHolds: [],
      endedHolds: []
    })
    books = open(shelf.content(), books.ids, books.lotRules)
  }
  /** Decides, adopts the state and returns the value, or returns the tag of the refusal. */
  const adopt = <A, Refusal extends { readonly _tag: string }>(decision: Decision<Books.Books, A, Refusal>) => {
    if (Result.isFailure(decision)) return decision.failure._tag
    books = decision.success.state
    return decision.success.value
  }
  const coinsOf = (parts: ReadonlyArray<{ readonly lot: LotId; readonly credits: number }>) =>
    parts.flatMap(({ credits, lot }) => Array.from({ length: credits }, () => names.get(lot)))

  const lotsOf = (account: string) => State.accountOf(books, account).lots
  /** Names the lots that were opened, and compares where coins went. */
  const checkReturned = (
    parts: ReadonlyArray<{ readonly lot: LotId; readonly credits: number }>,
    expected: ReadonlyArray<string>
  ): void => {
    let coin = 0
    for (const part of parts) {
      if (!names.has(part.lot)) names.set(part.lot, expected[coin]!)
      coin += part.credits
    }
    assert.deepStrictEqual<unknown>(coinsOf(parts), expected)
  }

  const decide = (command: Command, hour: number): void => {
    const { account, counts, credits, kind, purpose } = command
    const restrictions = { purpose, kindsAllowed: namesIn(command.allows) }
    const reference = referenceOf(books, command)
    const at = atHour(hour)
    // In steps of 12 hours, so that many lots expire together.
    const expiresAt = Math.ceil((hour + command.livesHours) / 12) * 12

    switch (command.does) {
      case "grant": {
        const terms = { account, kind, purpose, labels: namesIn(command.labels) }
        const heap = { ...terms, openedAt: hour, expiresAt, coins: credits + 1, closed: false }
        const expected = model.grant({ ...heap, name: `${account} ${reference}` })
        const grant = { ...terms, reference, credits: credits + 1, expiresAt: atHour(expiresAt), at }
        const result = adopt(Books.grant(books, grant))
        if (typeof result === "string") return assert.fail(result)
        names.set(result.lot.id, `${account} ${reference}`)
        return assert.strictEqual(result._tag, expected)
      }
      case "charge":
      case "charge again": {
        const expected = model.charge(account, reference, credits, hour, restrictions)
        const amount = { _tag: "Credits", credits, ...restrictions } as const
        const result = adopt(Books.charge(books, { account, reference, amount, at }))
        if (typeof result === "string" || typeof expected === "string") {
          return assert.deepStrictEqual<unknown>(result, expected)
        }
        if (result._tag !== "ChargedCredits") return assert.fail(result._tag)
        const labels = expected.flatMap((name) => model.heaps.get(name)!.labels)
        assert.deepStrictEqual(result.labels, [...new Set(labels)])
        return assert.deepStrictEqual(coinsOf(result.parts), expected)
      }
      case "count": {
        const counter = `${account} ${Book.ofQuota(kind, Day.of(at))}`
        const expected = model.count(account, reference, { amount: counts, limit: credits }, counter, hour)
        const amount = { _tag: "Quota", kind, limit: credits, amount: counts } as const
        const result = adopt(Books.charge(books, { account, reference, amount, at }))
        return assert.strictEqual(typeof result === "string" ? result : result._tag, expected)
      }
      case "refund":
      case "refund again":
      case "refund part":
      case "refund part again": {
        const part = command.does.startsWith("refund part") ? partOf(command) : undefined
        const expected = model.refund(account, reference, hour, part)
        const result = adopt(Books.refund(books, { account, reference, part, at }))
        if (typeof result === "string" || result._tag === "AlreadyRefunded") {
          return assert.strictEqual(typeof result === "string" ? result : result._tag, expected)
        }
        if (typeof expected === "string") return assert.fail(`refunded instead of ${expected}`)
        return checkReturned(result.parts, expected)
      }
      case "hold":
      case "hold again": {
        const terms = { account, reference, credits, ...restrictions, at }
        const expiry = { ...restrictions, expiresAt: hour + command.livesHours }
        const expected = model.hold(account, reference, credits, hour, expiry)
        const result = adopt(Books.hold(books, { ...terms, expiresAt: atHour(expiry.expiresAt) }))
        return assert.deepStrictEqual<unknown>(typeof result === "string" ? result : coinsOf(result.parts), expected)
      }
      case "capture":
      case "capture part": {
        const part = command.does === "capture" ? undefined : Math.floor(credits / 2)
        const expected = model.capture(account, reference, hour, part)
        const result = adopt(Books.capture(books, { account, reference, credits: part, at }))
        if (typeof result === "string" || result._tag === "AlreadyCaptured") {
          return assert.strictEqual(typeof result === "string" ? result : result._tag, expected)
        }
        if (typeof expected === "string") return assert.fail(`captured instead of ${expected}`)
        assert.deepStrictEqual(coinsOf(result.parts), expected.heaps)
        const labels = expected.heaps.flatMap((name) => model.heaps.get(name)!.labels)
        assert.deepStrictEqual(result.labels, [...new Set(labels)])
        return checkReturned(result.returned, expected.returned)
      }
      case "release": {
        const expected = model.release(account, reference, hour)
        const result = adopt(Books.release(books, { account, reference, at }))
        if (typeof result === "string" || result._tag === "AlreadyReleased") {
          return assert.strictEqual(typeof result === "string" ? result : result._tag, expected)
        }
        if (typeof expected === "string") return assert.fail(`released instead of ${expected}`)
        return checkReturned(result.parts, expected)
      }
      case "revoke": {
        saveAndLoad()
        const lots = shelf.content().lots.filter((lot) => lot.account === account)
        const lot = lots[credits % Math.max(1, lots.length)]
        if (lot === undefined) return
        const { remaining } = State.lotOf(State.accountOf(books, account), lot.id)
        model.revoke(names.get(lot.id)!)
        return assert.deepStrictEqual(adopt(revokeLot(books, { account, lot: lot.id, at })), { credits: remaining })
      }
      case "expire": {
        saveAndLoad()
        for (const { account, reference } of shelf.content().holds) {
          const lotsBefore = new Set(lotsOf(account).map(({ id }) => id))
          const expected = model.expireHold(account, reference, hour)
          const decided = expireHold(books, { account, reference, at })
          books = decided.state
          assert.strictEqual(decided.value?.credits, expected?.length)
          const opened = lotsOf(account).filter(({ id }) => !lotsBefore.has(id)).toSorted((a, b) =>
            a.id < b.id ? -1 : 1
          )
          const known = new Set(names.values())
          const made = [...new Set(expected?.filter((name) => !known.has(name)))]
          assert.strictEqual(opened.length, made.length)
          for (const [n, { id }] of opened.entries()) names.set(id, made[n]!)
        }
        saveAndLoad()
        model.expire(hour)
        for (const { account, id } of shelf.content().lots) {
          books = expireLot(books, { account, lot: id, at }).state
        }
        return
      }
    }
  }

  for (const command of commands) {
    hour += command.waits
    decide(command, hour - command.lags)
    if (command.saves) saveAndLoad()
  }
  saveAndLoad()
  return { model, names, shelf }
}

const checkSound = (content: State.BooksOptions["loaded"]) => {
  for (const { granted, remaining } of content.lots) assert.isTrue(remaining >= 0 && remaining <= granted)
  const { discrepancies, totals } = audit(content)
  assert.deepStrictEqual(discrepancies, [])
  assert.strictEqual(totals.granted, totals.remaining + totals.held + totals.consumed + totals.expired)
  return totals
}

const check = (kinds: LotKinds, commands: ReadonlyArray<Command>) => {
  const { model, names, shelf } = play(kinds, commands)
  const { lots, quotas, transactions } = shelf.content()

  const heaps = Object.fromEntries(Array.from(model.heaps.values(), ({ coins, name }) => [name, coins]))
  assert.deepStrictEqual(Object.fromEntries(lots.map(({ id, remaining }) => [names.get(id), remaining])), heaps)
  for (const { account, day, kind, used } of quotas) {
    assert.isAtLeast(used, 0)
    assert.strictEqual(used, model.counters.get(`${account} ${Book.ofQuota(kind, day)}`))
  }
  const { expired, granted, held } = checkSound(shelf.content())
  assert.deepStrictEqual({ granted, expired, held }, model.totals())

  const charges = new Map(transactions.filter(({ kind }) => kind === "charge").map((charge) => [charge.id, charge]))
  const refunds = transactions.filter(({ kind }) => kind === "refund")
  for (const [charge, parts] of Map.groupBy(refunds, ({ reverses }) => reverses!)) {
    const refunded = parts.reduce((sum, { amount }) => sum + amount, 0)
    assert.isAtMost(refunded, charges.get(charge)!.amount)
    // A refund without a part returns all that is left.
    if (parts.some(({ part }) => part === undefined)) assert.strictEqual(refunded, charges.get(charge)!.amount)
  }
  const booked = transactions.map(({ account, kind, part, reference }) => `${kind} ${account} ${reference} ${part}`)
  assert.strictEqual(new Set(booked).size, booked.length)
}

const commands = Arbitrary.schema(command)
const kinds = Arbitrary.schema(lotKinds)

it.prop(
  "agrees with a model of coins on any commands",
  [kinds, Arbitrary.array(commands, { maxLength: 60 })],
  ([kinds, commands]) => check(kinds, commands),
  { arbitrary: { runs: 300 } }
)

it.prop(
  "agrees with a model of coins on sequences of 1,000 commands",
  [kinds, Arbitrary.array(commands, { minLength: 1_000, maxLength: 1_000 })],
  ([kinds, commands]) => check(kinds, commands),
  { arbitrary: { runs: 10, maxShrinks: 200 } }
)

it.prop(
  "decides a command twice from one state in the same way, and changes nothing until the state is adopted",
  [kinds, Arbitrary.array(commands, { maxLength: 60 })],
  ([kinds, commands]) => {
    let books = emptyOf(kinds)
    let hour = 8
    for (const command of commands) {
      hour += command.waits
      const before = printed(books)
      const first = decideAny(books, command, hour)
      const second = decideAny(books, command, hour)
      assert.strictEqual(printed(books), before)
      assert.strictEqual(printed(first), printed(second))
      if (!command.abandons) books = second
    }
  },
  { arbitrary: { runs: 100 } }
)

it.prop(
  "produces sound books from any earlier state, whatever was decided from it before",
  [
    kinds,
    Arbitrary.array(
      Arbitrary.schema(
        Schema.Struct({ command, base: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })) })
      ),
      { maxLength: 60 }
    )
  ],
  ([kinds, steps]) => {
    const states = [emptyOf(kinds)]
    let hour = 8
    for (const { base, command } of steps) {
      hour += command.waits
      states.push(decideAny(states.at(-1 - base % states.length)!, command, hour))
    }
    for (const state of states) {
      checkSound(contentOf(state))
      const shelf = makeShelf()
      shelf.put(State.changesOf(state))
      checkSound(shelf.content())
    }
  },
  { arbitrary: { runs: 100 } }
)

it("counts ids up within the bits after a UUIDv7's version and variant", () => {
  const first = IdSequence.next(IdSequence.from("01890a5d-ac96-774b-bfff-fffffffffffe"))
  const second = IdSequence.next(first.rest)
  assert.deepStrictEqual([first.uuid, second.uuid, IdSequence.next(second.rest).uuid], [
    "01890a5d-ac96-774b-bfff-ffffffffffff",
    "01890a5d-ac96-774b-8000-000000000000",
    "01890a5d-ac96-774b-8000-000000000001"
  ])
})

it("requires commands to be requested, and their time to be in the requested span", () => {
  const amount = { _tag: "Credits", credits: 0 } as const
  const charge = { account: "ann", reference: "1", amount, at: start }
  assert.throws(() => Books.charge(empty, { ...charge, reference: "unknown" }), "was not requested")
  assert.throws(
    () => Books.charge(empty, { ...charge, at: DateTime.subtract(start, { hours: 1 }) }),
    "outside the span"
  )
  assert.throws(() => Books.charge(empty, { ...charge, at: DateTime.add(end, { hours: 1 }) }), "outside the span")
})

it("keeps the credits of a lot whose kind was removed from the options, and spends them when it is back", () => {
  const price = { _tag: "Credits", credits: 5 } as const
  const at = start
  const terms = { account: "ann", kind: "gift", credits: 10, expiresAt: DateTime.add(start, { days: 1 }), at }
  const opened = Result.getOrThrow(
    Books.grant(emptyOf({ ...defaultKinds, gift: { rank: 0 } }), { ...terms, reference: "1" })
  )
  const stored = contentOf(opened.state)
  const without = open(stored, opened.state.ids)
  const refused = Books.charge(without, { account: "ann", reference: "1", amount: price, at })
  assert.deepStrictEqual(refused, Result.fail(new InsufficientCredits({ required: 5, available: 0 })))
  assert.throws(() => Books.grant(without, { ...terms, reference: "2" }), "must be one of plan, refund, addon, trial")
  const kindsAllowed = ["gift"]
  assert.throws(
    () => Books.charge(without, { account: "ann", reference: "1", amount: { ...price, kindsAllowed }, at }),
    "must be one of"
  )

  const back = open(stored, opened.state.ids, Lots.makeRules({ lotKinds: { ...defaultKinds, gift: { rank: 9 } } }))
  const charged = Result.getOrThrow(Books.charge(back, { account: "ann", reference: "1", amount: price, at }))
  // Its credits are not turned into others, while the kind is missing.
  const later = open(contentOf(charged.state), charged.state.ids)
  const refunded = Books.refund(later, { account: "ann", reference: "1", at: DateTime.add(start, { days: 2 }) })
  const { lots } = State.accountOf(Result.getOrThrow(refunded).state, "ann")
  assert.deepStrictEqual(lots.map(({ kind, remaining }) => [kind, remaining]), [["gift", 5], ["gift", 5]])
})

it("requires kinds of lots with a name and a rank, and a kind of refunds that is not restricted", () => {
  const kinds = (lotKinds: Readonly<Record<string, LotKind>>, refundKind?: string) => () =>
    Lots.makeRules({ lotKinds, refundKind })
  assert.throws(kinds({ refund: { rank: 0 }, "": { rank: 0 } }), "A kind of lots must have 1 to 64 characters")
  assert.throws(kinds({ refund: { rank: 0 }, "a\0": { rank: 0 } }), "A kind of lots must have 1 to 64 characters")
  assert.throws(kinds({ refund: { rank: Number.NaN } }), "The rank of the kind refund must be a finite number")
  assert.throws(kinds({ plan: { rank: 0 } }), "The kind of refunds, refund, must be one of the kinds of lots")
  assert.throws(kinds({ plan: { rank: 0, restricted: true } }, "plan"), "not restricted")
  assert.throws(kinds({ plan: { rank: 0 } }, "constructor"), "The kind of refunds, constructor")
})
