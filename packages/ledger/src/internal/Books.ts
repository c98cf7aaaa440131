/**
 * The rules of the ledger, without a store and without effects: what a command does
 * to the lots, counters and transactions that were loaded (D21 to D24).
 *
 * A command that breaks the caller's side of the contract (an amount that is no
 * whole number, a reference that was not announced) is a bug and throws.
 */
import type { Proposal } from "@kinora/persistence/Proposal"
import { DateTime, type Duration, Result } from "effect"
import * as Charge from "../Charge.ts"
import * as Day from "../Day.ts"
import * as Grant from "../Grant.ts"
import type { Changes, Loaded, QuotaCount, TransactionName } from "../LedgerStore.ts"
import * as Lot from "../Lot.ts"
import { type Entry, type QuotaBook, quotaBook, quotaOfBook, type Transaction, TransactionId } from "../Transaction.ts"
import * as Check from "./Check.ts"
import type { IdSequence } from "./IdSequence.ts"

/** What books are made of. */
export interface BooksOptions {
  readonly loaded: Loaded
  /** The transactions that commands may make or look at: those that were loaded if they exist. */
  readonly announced: ReadonlyArray<TransactionName>
  /** Commands lie between these, both included. */
  readonly at: DateTime.Utc
  readonly until: DateTime.Utc
  /** How long a lot lives that a refund opens. */
  readonly refundLifetime: Duration.Duration
  readonly nextId: IdSequence
}

/** Books that are open for commands. */
export interface Books {
  readonly charge: (
    command: Charge.ChargeCommand
  ) => Result.Result<Proposal<Charge.Charged>, Charge.ChargeRefusal>
  readonly refund: (
    command: Charge.RefundCommand
  ) => Result.Result<Proposal<Charge.Refunded | Charge.AlreadyRefunded>, Charge.UnknownCharge>
  readonly grant: (
    command: Grant.GrantCommand
  ) => Result.Result<Proposal<Grant.Granted | Grant.AlreadyGranted>, Grant.GrantExpired>
  /** Books what is left in an expired lot, and closes it. Answers the credits; `undefined`: nothing to do. */
  readonly expire: (lot: Lot.LotId, at: DateTime.Utc) => Proposal<number | undefined>
  /** What was kept since the last call. */
  readonly takeChanges: () => Changes
}

/** Opens books over what was loaded. */
export const make = (options: BooksOptions): Books => {
  const { nextId, refundLifetime } = options
  const pages = makePages(options.loaded)
  const announced = new Set(options.announced.map(nameOf))
  let revision = 0

  const propose = <A>(value: A, change: () => void): Proposal<A> => {
    const proposedAt = revision
    return {
      value,
      keep: () => {
        if (revision !== proposedAt) throw new Error("A proposal was kept after the books had changed")
        revision++
        change()
      }
    }
  }

  const checkCommand = (
    kind: "charge" | "grant",
    command: { account: string; reference: string; at: DateTime.Utc }
  ) => {
    if (!announced.has(nameOf({ ...command, kind }))) {
      throw new Error(
        `The ${kind} ${command.reference} of ${command.account} was not announced when the books were opened`
      )
    }
    if (DateTime.isLessThan(command.at, options.at) || DateTime.isGreaterThan(command.at, options.until)) {
      throw new Error(`The ${kind} ${command.reference} lies outside the time that the books were opened for`)
    }
  }

  const chargeCredits = (
    command: Charge.ChargeCommand,
    { credits, imagesOnlyAllowed }: Charge.CreditsAmount
  ): Result.Result<Proposal<Charge.Charged>, Charge.ChargeRefusal> => {
    Check.credits("A price", credits, 0)
    const parts: Array<Charge.LotPart> = []
    let missing = credits
    for (const lot of pages.spendableLots(command.account)) {
      if (missing === 0) break
      if (lot.remaining === 0 || Lot.isExpired(lot, command.at) || (lot.imagesOnly && !imagesOnlyAllowed)) continue
      const part = Math.min(lot.remaining, missing)
      parts.push({ lot: lot.id, credits: part })
      missing -= part
    }
    if (missing > 0) {
      return Result.fail(new Charge.InsufficientCredits({ required: credits, available: credits - missing }))
    }
    return Result.succeed(propose(new Charge.ChargedCredits({ credits, parts }), () => {
      for (const part of parts) pages.addToLot(part.lot, -part.credits)
      pages.book({
        ...transactionOf("charge", command),
        amount: credits,
        entries: parts.map((part): Entry => ({ from: part.lot, to: "consumed", amount: part.credits }))
      })
    }))
  }

  const chargeQuota = (
    command: Charge.ChargeCommand,
    { kind, limit }: Charge.QuotaAmount
  ): Result.Result<Proposal<Charge.Charged>, Charge.ChargeRefusal> => {
    Check.name("A kind of quota", kind, 64)
    Check.credits("A quota's limit", limit, 0)
    const day = Day.of(command.at)
    const used = pages.usedOf(command.account, kind, day)
    if (used >= limit) {
      return Result.fail(new Charge.QuotaExceeded({ kind, limit, used, resetsAt: Day.endOf(command.at) }))
    }
    return Result.succeed(propose(new Charge.ChargedQuota({ kind, day, used: used + 1 }), () => {
      pages.setUsed({ account: command.account, kind, day, used: used + 1 })
      pages.book({
        ...transactionOf("charge", command),
        amount: 1,
        entries: [{ from: "allowance", to: quotaBook(kind, day), amount: 1 }]
      })
    }))
  }

  const transactionOf = (
    kind: Transaction["kind"],
    { account, at, reference }: { account: string; at: DateTime.Utc; reference: string }
  ) => ({ id: TransactionId.fromUuid(nextId()), account, kind, reference, at, reverses: undefined })

  /** Gives one part of a charge back: to its lot, or to a new one when that has expired (D22). */
  const returnPart = (part: Entry, refund: Pick<Transaction, "id" | "at">): ReturnedPart => {
    const paid = pages.lot(part.from as Lot.LotId) // a charge's entry to `consumed` is from a lot
    if (!Lot.isExpired(paid, refund.at)) {
      return { lot: paid.id, credits: part.amount, change: () => pages.addToLot(paid.id, part.amount) }
    }
    const opened: Lot.Lot = {
      ...paid,
      id: Lot.LotId.fromUuid(nextId()),
      kind: "refund",
      granted: part.amount,
      remaining: part.amount,
      openedAt: refund.at,
      expiresAt: DateTime.addDuration(refund.at, refundLifetime),
      closed: false,
      openedBy: refund.id
    }
    return { lot: opened.id, credits: part.amount, change: () => pages.openLot(opened) }
  }

  return {
    charge: (command) => {
      checkCommand("charge", command)
      if (pages.find({ ...command, kind: "charge" }) !== undefined) {
        return Result.fail(new Charge.AlreadyCharged({ reference: command.reference }))
      }
      return command.amount._tag === "Credits"
        ? chargeCredits(command, command.amount)
        : chargeQuota(command, command.amount)
    },

    refund: (command) => {
      checkCommand("charge", command)
      const charge = pages.find({ ...command, kind: "charge" })
      if (charge === undefined) return Result.fail(new Charge.UnknownCharge({ reference: command.reference }))
      if (pages.find({ ...command, kind: "refund" }) !== undefined) {
        return Result.succeed(propose(new Charge.AlreadyRefunded(), () => {}))
      }
      const refund = transactionOf("refund", command)
      const returned = charge.entries.filter((entry) => entry.to === "consumed").map((part) => returnPart(part, refund))
      const counted = charge.entries.flatMap((entry) =>
        entry.from === "allowance" ? [pages.quotaOf(charge, entry)] : []
      )
      const value = new Charge.Refunded({
        credits: returned.reduce((sum, part) => sum + part.credits, 0),
        parts: returned.map(({ credits, lot }) => ({ lot, credits }))
      })
      return Result.succeed(propose(value, () => {
        for (const part of returned) part.change()
        for (const quota of counted) pages.setUsed({ ...quota, used: Math.max(0, quota.used - 1) })
        pages.book({
          ...refund,
          amount: charge.amount,
          reverses: charge.id,
          entries: [
            ...returned.map((part): Entry => ({ from: "consumed", to: part.lot, amount: part.credits })),
            ...counted.map((quota): Entry => ({ from: quotaBook(quota.kind, quota.day), to: "allowance", amount: 1 }))
          ]
        })
      }))
    },

    grant: (command) => {
      checkCommand("grant", command)
      Check.credits("A grant", command.credits, 1)
      const found = pages.find({ ...command, kind: "grant" })
      if (found !== undefined) {
        const lot = found.entries[0]!.to as Lot.LotId // a grant has one entry, to its lot
        return Result.succeed(propose(new Grant.AlreadyGranted({ lot: pages.lot(lot) }), () => {}))
      }
      if (DateTime.isLessThanOrEqualTo(command.expiresAt, command.at)) {
        return Result.fail(new Grant.GrantExpired({ expiresAt: command.expiresAt }))
      }
      const transaction = transactionOf("grant", command)
      const lot: Lot.Lot = {
        id: Lot.LotId.fromUuid(nextId()),
        account: command.account,
        kind: command.kind,
        granted: command.credits,
        remaining: command.credits,
        openedAt: command.at,
        expiresAt: command.expiresAt,
        imagesOnly: command.imagesOnly ?? false,
        watermark: command.watermark ?? false,
        closed: false,
        openedBy: transaction.id
      }
      return Result.succeed(propose(new Grant.Granted({ lot }), () => {
        pages.openLot(lot)
        pages.book({
          ...transaction,
          amount: command.credits,
          entries: [{ from: `source:${command.kind}`, to: lot.id, amount: command.credits }]
        })
      }))
    },

    expire: (id, at) => {
      const lot = pages.lot(id)
      if (lot.closed || DateTime.isGreaterThan(lot.expiresAt, at)) return propose(undefined, () => {})
      return propose(lot.remaining, () => {
        pages.closeLot(id)
        if (lot.remaining === 0) return
        pages.book({
          ...transactionOf("expire", { account: lot.account, at, reference: id }),
          amount: lot.remaining,
          entries: [{ from: id, to: "expired", amount: lot.remaining }]
        })
      })
    },

    takeChanges: pages.takeChanges
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface ReturnedPart extends Charge.LotPart {
  readonly change: () => void
}

/** Names hold no line feed (`Check.name`), so the parts of a key cannot run into each other. */
const nameOf = ({ account, kind, reference }: TransactionName) => `${kind}\n${account}\n${reference}`

const counterOf = (account: string, kind: string, day: Day.Day) => `${account}\n${kind}\n${day}`

/** What was loaded, as it is after the changes that were kept. */
const makePages = (loaded: Loaded) => {
  const lots = new Map(loaded.lots.map((lot) => [lot.id, lot]))
  const spendable = new Map<string, Array<Lot.LotId>>()
  const quotas = new Map(loaded.quotas.map((count) => [counterOf(count.account, count.kind, count.day), count]))
  const transactions = new Map(loaded.transactions.map((transaction) => [nameOf(transaction), transaction]))

  const opened = new Set<Lot.LotId>()
  const changed = new Set<Lot.LotId>()
  const counted = new Set<string>()
  const booked: Array<Transaction> = []

  const lot = (id: Lot.LotId): Lot.Lot => {
    const found = lots.get(id)
    if (found === undefined) throw new Error(`The books name ${id}, and there is no such lot`)
    return found
  }
  const changeLot = (lot: Lot.Lot) => {
    lots.set(lot.id, lot)
    if (!opened.has(lot.id)) changed.add(lot.id)
  }
  const usedOf = (account: string, kind: string, day: Day.Day) => quotas.get(counterOf(account, kind, day))?.used ?? 0

  const lineUp = (account: string) => {
    const inOrder = [...lots.values()]
      .filter((lot) => lot.account === account && Lot.isSpendable(lot.kind))
      .toSorted(Lot.spendingOrder)
      .map((lot) => lot.id)
    spendable.set(account, inOrder)
    return inOrder
  }

  return {
    lot,
    find: (name: TransactionName) => transactions.get(nameOf(name)),
    usedOf,
    /** The account's lots that may be spent, in the order of D21, also those that are empty or have expired. */
    *spendableLots(account: string) {
      for (const id of spendable.get(account) ?? lineUp(account)) yield lot(id)
    },
    /** The counter that a charge's entry from the allowance went to. */
    quotaOf: ({ account }: Transaction, entry: Entry): QuotaCount => {
      const { day, kind } = quotaOfBook(entry.to as QuotaBook) // the allowance is spent on quotas only
      return { account, kind, day, used: usedOf(account, kind, day) }
    },
    addToLot: (id: Lot.LotId, credits: number) => changeLot({ ...lot(id), remaining: lot(id).remaining + credits }),
    closeLot: (id: Lot.LotId) => changeLot({ ...lot(id), remaining: 0, closed: true }),
    openLot: (lot: Lot.Lot) => {
      lots.set(lot.id, lot)
      opened.add(lot.id)
      spendable.delete(lot.account)
    },
    setUsed: (count: QuotaCount) => {
      const key = counterOf(count.account, count.kind, count.day)
      quotas.set(key, count)
      counted.add(key)
    },
    book: (transaction: Transaction) => {
      transactions.set(nameOf(transaction), transaction)
      booked.push(transaction)
    },
    takeChanges: (): Changes => {
      const changes: Changes = {
        openedLots: Array.from(opened, lot),
        changedLots: Array.from(changed, lot),
        quotas: Array.from(counted, (key) => quotas.get(key)!),
        transactions: booked.slice()
      }
      opened.clear()
      changed.clear()
      counted.clear()
      booked.length = 0
      return changes
    }
  }
}
