import { assert, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Result, Schema } from "effect"
import * as Day from "../src/Day.ts"
import { audit } from "../src/internal/Auditing.ts"
import * as Books from "../src/internal/Books.ts"
import * as IdSequence from "../src/internal/IdSequence.ts"
import type { QuotaCount } from "../src/LedgerStore.ts"
import type { Lot, LotId } from "../src/Lot.ts"
import { quotaBook, type Transaction } from "../src/Transaction.ts"
import * as Model from "./Model.ts"

const start = DateTime.makeUnsafe("2026-11-20T00:00:00.000Z")
const end = DateTime.add(start, { days: 1_000 })
const atHour = (hour: number) => DateTime.add(start, { hours: hour })
const refundHours = 48

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Command = Schema.Struct({
  does: Schema.Literals(["grant", "charge", "charge again", "count", "refund", "refund again", "expire"]),
  account: Schema.Literals(["ann", "bob"]),
  /** Few, so that charges are repeated and refunds meet them. */
  reference: between(0, 250),
  credits: between(0, 12),
  imagesOnly: Schema.Boolean,
  kind: Schema.Literals(["plan", "addon", "trial", "refund"]),
  livesHours: between(1, 24),
  /** Hours that pass before the command. */
  waits: between(0, 1),
  /** Hours that the clock of the command's host is behind. */
  lags: between(0, 8),
  /** Whether the command's proposal is dropped, and made again. */
  hesitates: Schema.Boolean,
  /** Whether the books are saved and opened again afterwards. */
  saves: Schema.Boolean
})

const commands = Arbitrary.schema(Command)

/** What a store would keep. */
const makeShelf = () => {
  const lots = new Map<LotId, Lot>()
  const quotas = new Map<string, QuotaCount>()
  const transactions: Array<Transaction> = []
  return {
    lots,
    quotas,
    transactions,
    content: () => ({ lots: [...lots.values()], quotas: [...quotas.values()], transactions }),
    put: (books: Books.Books) => {
      const changes = books.takeChanges()
      assert.isFalse(changes.openedLots.some(({ id }) => lots.has(id)))
      assert.isTrue(changes.changedLots.every(({ id }) => lots.has(id)))
      for (const lot of [...changes.openedLots, ...changes.changedLots]) lots.set(lot.id, lot)
      for (const count of changes.quotas) quotas.set(`${count.account} ${quotaBook(count.kind, count.day)}`, count)
      transactions.push(...changes.transactions)
    }
  }
}

/** Runs the commands on the books and on the model, and compares all that both say after each. */
const play = (commands: ReadonlyArray<typeof Command.Type>) => {
  const model = Model.make(refundHours)
  const shelf = makeShelf()
  const nextId = IdSequence.from("01890a5d-ac96-774b-8000-000000000000")
  /** The model's name of each lot. */
  const names = new Map<LotId, string>()
  const announced = ["ann", "bob"].flatMap((account) =>
    Array.from({ length: 251 }, (_, n) => `${n}`).flatMap((reference) => [
      { account, kind: "charge", reference } as const,
      { account, kind: "grant", reference } as const
    ])
  )
  const open = () =>
    Books.make({
      loaded: shelf.content(),
      announced,
      at: start,
      until: end,
      refundLifetime: Duration.hours(refundHours),
      nextId
    })

  let books = open()
  let hour = 8
  const decide = (command: typeof Command.Type, hour: number): void => {
    const { account, credits, imagesOnly, kind } = command
    const reference = `${command.reference}`
    const at = atHour(hour)
    // In steps, so that many lots expire together.
    const expiresAt = Math.ceil((hour + command.livesHours) / 12) * 12
    /** Proposes, perhaps twice, and keeps the last. */
    const settle = <A, Refusal extends { readonly _tag: string }>(
      propose: () => Result.Result<{ readonly value: A; readonly keep: () => void }, Refusal>
    ): A | Refusal["_tag"] => {
      if (command.hesitates) propose()
      const answer = propose()
      if (Result.isFailure(answer)) return answer.failure._tag
      answer.success.keep()
      return answer.success.value
    }
    const coinsOf = (parts: ReadonlyArray<{ readonly lot: LotId; readonly credits: number }>) =>
      parts.flatMap(({ credits, lot }) => Array.from({ length: credits }, () => names.get(lot)))

    switch (command.does) {
      case "grant": {
        const heap = { account, kind, imagesOnly, openedAt: hour, expiresAt, coins: credits + 1, closed: false }
        const expected = model.grant({ ...heap, name: `${account} ${reference}` })
        const answer = settle(() =>
          books.grant({
            account,
            reference,
            kind,
            imagesOnly,
            credits: credits + 1,
            expiresAt: atHour(expiresAt),
            at
          })
        )
        if (typeof answer === "string") return assert.fail(answer)
        names.set(answer.lot.id, `${account} ${reference}`)
        return assert.strictEqual(answer._tag, expected)
      }
      case "charge":
      case "charge again": {
        const expected = model.charge(account, reference, credits, hour, imagesOnly)
        const amount = { _tag: "Credits", credits, imagesOnlyAllowed: imagesOnly } as const
        const answer = settle(() => books.charge({ account, reference, amount, at }))
        const told = typeof answer === "string" ? answer : answer._tag === "ChargedCredits" ? coinsOf(answer.parts) : []
        return assert.deepStrictEqual(told, expected)
      }
      case "count": {
        const day = Day.of(at)
        const expected = model.count(account, reference, credits, `${account} ${quotaBook(kind, day)}`)
        const amount = { _tag: "Quota", kind, limit: credits } as const
        const answer = settle(() => books.charge({ account, reference, amount, at }))
        return assert.strictEqual(typeof answer === "string" ? answer : answer._tag, expected)
      }
      case "refund":
      case "refund again": {
        const expected = model.refund(account, reference, hour)
        const answer = settle(() => books.refund({ account, reference, at }))
        if (typeof answer === "string" || answer._tag === "AlreadyRefunded") {
          return assert.strictEqual(typeof answer === "string" ? answer : answer._tag, expected)
        }
        if (typeof expected === "string") return assert.fail(`refunded instead of ${expected}`)
        let coin = 0
        for (const part of answer.parts) {
          if (!names.has(part.lot)) names.set(part.lot, expected[coin]!)
          coin += part.credits
        }
        return assert.deepStrictEqual(coinsOf(answer.parts), expected)
      }
      case "expire": {
        model.expire(hour)
        books = reopen()
        for (const lot of shelf.lots.keys()) books.expire(lot, at).keep()
        return
      }
    }
  }
  const reopen = () => {
    shelf.put(books)
    return open()
  }

  for (const command of commands) {
    hour += command.waits
    decide(command, hour - command.lags)
    if (command.saves) books = reopen()
  }
  shelf.put(books)
  return { model, names, shelf }
}

const check = (commands: ReadonlyArray<typeof Command.Type>) => {
  const { model, names, shelf } = play(commands)

  const heaps = Object.fromEntries(Array.from(model.heaps.values(), ({ coins, name }) => [name, coins]))
  const lots = Object.fromEntries(Array.from(shelf.lots.values(), ({ id, remaining }) => [names.get(id), remaining]))
  assert.deepStrictEqual(lots, heaps)
  for (const { account, day, kind, used } of shelf.quotas.values()) {
    assert.isAtLeast(used, 0)
    assert.strictEqual(used, model.counters.get(`${account} ${quotaBook(kind, day)}`))
  }
  for (const { granted, remaining } of shelf.lots.values()) {
    assert.isTrue(remaining >= 0 && remaining <= granted)
  }

  const { discrepancies, totals } = audit(shelf.content())
  assert.deepStrictEqual(discrepancies, [])
  assert.strictEqual(totals.granted, totals.remaining + totals.consumed + totals.expired)
  assert.deepStrictEqual({ granted: totals.granted, expired: totals.expired }, model.totals())

  const charges = new Map(
    shelf.transactions.filter(({ kind }) => kind === "charge").map((charge) => [charge.id, charge])
  )
  const refunds = shelf.transactions.filter(({ kind }) => kind === "refund")
  assert.strictEqual(new Set(refunds.map(({ reverses }) => reverses)).size, refunds.length)
  for (const refund of refunds) assert.strictEqual(refund.amount, charges.get(refund.reverses!)?.amount)
  const booked = shelf.transactions.map(({ account, kind, reference }) => `${kind} ${account} ${reference}`)
  assert.strictEqual(new Set(booked).size, booked.length)
}

it("keeps a proposal once, and only while nothing else was kept", () => {
  const announced = [{ account: "ann", kind: "grant", reference: "a" }, {
    account: "ann",
    kind: "grant",
    reference: "b"
  }] as const
  const books = Books.make({
    loaded: { lots: [], quotas: [], transactions: [] },
    announced,
    at: start,
    until: start,
    refundLifetime: Duration.days(30),
    nextId: IdSequence.from("01890a5d-ac96-774b-8000-000000000000")
  })
  const [a, b] = announced.map(({ account, reference }) =>
    Result.getOrThrow(
      books.grant({ account, reference, kind: "plan", credits: 1, expiresAt: atHour(1), at: start })
    )
  )
  a!.keep()
  assert.throws(() => a!.keep(), "after the books had changed")
  assert.throws(() => b!.keep(), "after the books had changed")
  assert.deepStrictEqual(books.takeChanges().transactions.map(({ reference }) => reference), ["a"])
})

it("counts ids on without leaving the UUIDv7's version and variant", () => {
  const next = IdSequence.from("01890a5d-ac96-774b-bfff-fffffffffffe")
  assert.deepStrictEqual([next(), next(), next()], [
    "01890a5d-ac96-774b-bfff-ffffffffffff",
    "01890a5d-ac96-774b-8000-000000000000",
    "01890a5d-ac96-774b-8000-000000000001"
  ])
})

it.prop(
  "does what a model with coins does, for any commands (D21, D22, D23)",
  [Arbitrary.array(commands, { maxLength: 60 })],
  ([commands]) => check(commands),
  { arbitrary: { runs: 300 } }
)

it.prop(
  "does what a model with coins does, for sequences of 1,000 commands (D21, D22, D23)",
  [Arbitrary.array(commands, { minLength: 1_000, maxLength: 1_000 })],
  ([commands]) => check(commands),
  { arbitrary: { runs: 10, maxShrinks: 200 } }
)
