/**
 * The rules of the ledger as pure functions.
 *
 * A function decides one command on immutable books. It returns the books after the
 * command together with the result, or the reason to refuse the command. The books
 * that it was given do not change, so a decision that is not adopted has no effect:
 *
 *     const charged = Books.charge(books, command)
 *     if (Result.isSuccess(charged)) books = charged.success.state
 *
 * `Ledger.load` loads books, and `Ledger.save` writes the changes that they carry.
 * Arguments that break the caller's contract, such as half a credit or a reference
 * that was not requested from `load`, are defects: the functions throw.
 */
import { accept, type Decision } from "@kinora/persistence/Decision"
import { DateTime, Result } from "effect"
import * as Book from "./internal/Book.ts"
import * as State from "./internal/booksState.ts"
import * as Check from "./internal/check.ts"
import type {
  CaptureCommand,
  Captured,
  ChargeCommand,
  Charged,
  GrantCommand,
  Granted,
  Held,
  HoldCommand,
  RefundCommand,
  Refunded,
  ReleaseCommand,
  Released
} from "./internal/commands.ts"
import * as Day from "./internal/Day.ts"
import * as Holds from "./internal/holds.ts"
import * as IdSequence from "./internal/IdSequence.ts"
import * as Lots from "./internal/lots.ts"
import * as Payments from "./internal/payments.ts"
import * as Reasons from "./internal/reasons.ts"
import * as Refunds from "./internal/refunds.ts"
import type { CaptureRefusal, ChargeRefusal, HoldRefusal, RefundRefusal, ReleaseRefusal } from "./internal/refusals.ts"
import { type Lot, LotId } from "./Lot.ts"
import type { Transaction } from "./Transaction.ts"

export type {
  CaptureCommand,
  ChargeCommand,
  GrantCommand,
  HoldCommand,
  RefundCommand,
  ReleaseCommand
} from "./internal/commands.ts"

/** Books of some accounts: immutable, with the changes since they were loaded or saved. Treat as opaque. */
export interface Books extends State.BooksState {}

/** Charges an account once per reference, in full or not at all. A reference with an open hold is charged by `capture`. */
export const charge = (
  books: Books,
  command: ChargeCommand
): Decision<Books, Charged, ChargeRefusal> => {
  State.checkRequested(books, { ...command, kind: "charge" }, command.at)
  const account = State.accountOf(books, command.account)
  if (State.findTransaction(account, { ...command, kind: "charge" }) !== undefined) {
    return Result.fail(new Reasons.AlreadyCharged({ reference: command.reference }))
  }
  const hold = State.findHold(account, command.reference)
  const at = State.storageTime(books, command.at)
  if (hold !== undefined && Holds.stateAt(hold, at) === "open") return Result.fail(Holds.alreadyHeld(hold, at))
  return command.amount._tag === "Credits"
    ? chargeCredits(books, command, command.amount)
    : chargeQuota(books, command, command.amount)
}

/**
 * Refunds a part of a charge, once per reference of the part, or all that is left of the charge. Each credit goes back
 * to the lot that paid it, and a part is what the lots that paid last have paid: the lots hold what they would hold if the
 * charge had been smaller. Credits whose lot has expired become a new lot with the same purpose and labels. Its kind is
 * `refundKind`, or that of the expired lot if it is restricted.
 */
export const refund = (books: Books, command: RefundCommand): Decision<Books, Refunded, RefundRefusal> => {
  const { account: name, at, part, reference } = command
  State.checkRequested(books, { account: name, kind: "charge", reference }, at)
  if (part !== undefined) Check.part(part)
  const account = State.accountOf(books, name)
  const charge = State.findTransaction(account, { kind: "charge", reference })
  if (charge === undefined) return Result.fail(new Reasons.UnknownCharge({ reference }))
  const refundable = charge.amount - State.refundedOf(account, charge)
  if (
    State.findTransaction(account, { kind: "refund", reference, part: part?.reference }) !== undefined ||
    (part === undefined && refundable === 0 && charge.amount > 0)
  ) return accept(books, { _tag: "AlreadyRefunded" })
  if (part !== undefined) {
    const { credits } = part
    if (Refunds.isOfQuota(charge)) return Result.fail(new Reasons.IndivisibleCharge({ reference }))
    if (credits > refundable) {
      return Result.fail(new Reasons.RefundExceedsCharge({ reference, credits, refundable }))
    }
  }
  return accept(...Refunds.refund(books, command, { charge, amount: part?.credits ?? refundable }))
}

/** Opens a lot once per reference. */
export const grant = (books: Books, command: GrantCommand): Decision<Books, Granted, Reasons.GrantExpired> => {
  State.checkRequested(books, { ...command, kind: "grant" }, command.at)
  checkLot(books, command)
  const account = State.accountOf(books, command.account)
  const found = State.findTransaction(account, { ...command, kind: "grant" })
  if (found !== undefined) {
    const lot = State.lotOf(account, found.entries[0]!.to as LotId) // the one entry of a grant goes to its lot
    return accept(books, { _tag: "AlreadyGranted", lot })
  }
  if (DateTime.isLessThanOrEqualTo(command.expiresAt, command.at)) {
    return Result.fail(new Reasons.GrantExpired({ expiresAt: command.expiresAt }))
  }
  const { ids, transaction } = State.nextTransaction(books.ids, "grant", command)
  const { rest, uuid } = IdSequence.next(ids)
  const lot: Lot = {
    id: LotId.fromUuid(uuid),
    account: command.account,
    kind: command.kind,
    granted: command.credits,
    remaining: command.credits,
    openedAt: command.at,
    expiresAt: command.expiresAt,
    purpose: command.purpose,
    labels: [...command.labels ?? []],
    closed: false,
    openedBy: transaction.id
  }
  const next = State.book(State.openLots(account, [lot], books.lotRules), {
    ...transaction,
    amount: command.credits,
    entries: [{ from: `source:${command.kind}`, to: lot.id, amount: command.credits }]
  })
  return accept(State.withAccount(books, command.account, next, rest), { _tag: "Granted", lot })
}

/** Takes credits from lots for a later charge, once per reference, in full or not at all. */
export const hold: (books: Books, command: HoldCommand) => Decision<Books, Held, HoldRefusal> = Holds.hold

/**
 * Charges credits of an open hold, and returns the rest. The lots that gave the credits pay in the order in which they gave
 * them, also if they have expired since. The rest goes back to them as by a refund, so the lots hold what they would hold if
 * the charge had been booked instead of the hold.
 */
export const capture: (
  books: Books,
  command: CaptureCommand
) => Decision<Books, Captured, CaptureRefusal> = Holds.capture

/** Returns the credits of an open hold to the lots that gave them, as a refund does. */
export const release: (
  books: Books,
  command: ReleaseCommand
) => Decision<Books, Released, ReleaseRefusal> = Holds.release

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Entry = Transaction["entries"][number]

/** Throws unless the lot to grant is valid. */
const checkLot = (
  { lotRules }: Books,
  { credits, kind, labels = [], purpose }: GrantCommand
): void => {
  Check.credits("A grant", credits, 1)
  Lots.checkKind(lotRules, kind)
  if (purpose !== undefined) Check.name("A purpose", purpose, 64)
  Lots.checkLabels(labels)
}

const chargeCredits = (
  books: Books,
  command: ChargeCommand,
  amount: Extract<ChargeCommand["amount"], { readonly _tag: "Credits" }>
): Decision<Books, Charged, ChargeRefusal> => {
  const account = State.accountOf(books, command.account)
  const at = State.storageTime(books, command.at)
  const payment = Payments.payFrom(books.lotRules, account.lots, amount, at)
  if (Result.isFailure(payment)) return Result.fail(payment.failure)
  const { paid, parts } = payment.success
  const { credits } = amount
  const entries = parts.map((part): Entry => ({ from: part.lot, to: "consumed", amount: part.credits }))
  const charged = bookCharge(books, command, State.replaceLots(account, paid), { amount: credits, entries })
  return accept(charged, { _tag: "ChargedCredits", credits, parts, labels: Lots.labelsOf(paid) })
}

const chargeQuota = (
  books: Books,
  command: ChargeCommand,
  amount: Extract<ChargeCommand["amount"], { readonly _tag: "Quota" }>
): Decision<Books, Charged, ChargeRefusal> => {
  const { amount: counts = 1, kind } = amount
  const account = State.accountOf(books, command.account)
  const at = State.storageTime(books, command.at)
  const day = Day.of(at)
  const counter = Payments.countTo(State.usedOf(account, kind, day), amount, at)
  if (Result.isFailure(counter)) return Result.fail(counter.failure)
  const used = counter.success
  const counted = State.setUsed(account, { account: command.account, kind, day, used })
  const entries: ReadonlyArray<Entry> = [{ from: "allowance", to: Book.ofQuota(kind, day), amount: counts }]
  const charged = bookCharge(books, command, counted, { amount: counts, entries })
  return accept(charged, { _tag: "ChargedQuota", kind, day, amount: counts, used })
}

/** Returns the books with a charge of an account whose lots and counters have been changed for it. */
const bookCharge = (
  books: Books,
  command: ChargeCommand,
  account: State.AccountState,
  booked: Pick<Transaction, "amount" | "entries">
): Books => {
  const { ids, transaction } = State.nextTransaction(books.ids, "charge", command)
  return State.withAccount(books, command.account, State.book(account, { ...transaction, ...booked }), ids)
}
