/** The rules of holds. Pure. */
import { accept, type Decided, type Decision } from "@kinora/persistence/Decision"
import { DateTime, Result } from "effect"
import type { Hold } from "../Hold.ts"
import * as Book from "./Book.ts"
import * as State from "./booksState.ts"
import * as Check from "./check.ts"
import type { CaptureCommand, Captured, Held, HoldCommand, ReleaseCommand, Released } from "./commands.ts"
import { type EndCommand, endHold } from "./endHold.ts"
import * as Payments from "./payments.ts"
import * as Reasons from "./reasons.ts"
import type { CaptureRefusal, HoldRefusal, ReleaseRefusal } from "./refusals.ts"

/** `hold` of `Books`. */
export const hold = (
  books: State.BooksState,
  command: HoldCommand
): Decision<State.BooksState, Held, HoldRefusal> => {
  const { account: name, reference } = command
  const { account, at, found } = findRequested(books, command)
  if (found !== undefined) return Result.fail(alreadyHeld(found, at))
  if (State.findTransaction(account, { kind: "charge", reference }) !== undefined) {
    return Result.fail(new Reasons.AlreadyCharged({ reference }))
  }
  const expiresAt = expiryOf(books, command, at)
  if (DateTime.isLessThanOrEqualTo(expiresAt, at)) return Result.fail(new Reasons.HoldExpired({ expiresAt }))
  const limit = books.holdsMax
  if (account.openHolds >= limit) return Result.fail(new Reasons.TooManyHolds({ limit }))
  const payment = Payments.payFrom(books.lotRules, account.lots, command, at)
  if (Result.isFailure(payment)) return Result.fail(payment.failure)
  const { paid, parts } = payment.success
  const { credits } = command
  const { ids, transaction } = State.nextTransaction(books.ids, "hold", command)
  const opened: Hold = { account: name, reference, credits, expiresAt, state: "open", openedBy: transaction.id }
  const entries = parts.map((part) => ({ from: part.lot, to: Book.ofHold(reference), amount: part.credits }))
  const taken = State.setHold(State.replaceLots(account, paid), opened)
  const next = State.book(taken, { ...transaction, amount: credits, entries })
  return accept(State.withAccount(books, name, next, ids), { _tag: "Held", credits, parts, expiresAt })
}

/** `capture` of `Books`. */
export const capture = (
  books: State.BooksState,
  command: CaptureCommand
): Decision<State.BooksState, Captured, CaptureRefusal> => {
  const { reference } = command
  if (command.credits !== undefined) Check.credits("A capture", command.credits, 0)
  const { account, at, found } = findRequested(books, command)
  if (found === undefined) return Result.fail(new Reasons.UnknownHold({ reference }))
  const credits = command.credits ?? found.credits
  const charge = State.findTransaction(account, { kind: "charge", reference })
  const state = stateAt(found, at)
  if (state === "captured") {
    const captured = charge?.amount ?? 0
    return captured === credits
      ? accept(books, { _tag: "AlreadyCaptured", credits })
      : Result.fail(new Reasons.CaptureDiffers({ reference, credits, captured }))
  }
  if (state !== "open") return Result.fail(new Reasons.HoldEnded({ reference, state }))
  // By a build without holds, which does not refuse the charge, or by a command with a later time, when the hold had expired.
  if (charge !== undefined) return Result.fail(new Reasons.AlreadyCharged({ reference }))
  const held = found.credits
  if (credits > held) return Result.fail(new Reasons.CaptureExceedsHold({ reference, credits, held }))
  const ended = endHold(books, found, { state: "captured", credits, at: command.at, metadata: command.metadata })
  return accept(ended.state, { _tag: "Captured", credits, ...ended.value })
}

/** `release` of `Books`. */
export const release = (
  books: State.BooksState,
  command: ReleaseCommand
): Decision<State.BooksState, Released, ReleaseRefusal> => {
  const { reference } = command
  const { found } = findRequested(books, command)
  if (found === undefined) return Result.fail(new Reasons.UnknownHold({ reference }))
  if (found.state === "captured") return Result.fail(new Reasons.HoldEnded({ reference, state: found.state }))
  if (found.state !== "open") return accept(books, { _tag: "AlreadyReleased" })
  const ended = endHold(books, found, { state: "released", credits: 0, at: command.at })
  return accept(ended.state, { _tag: "Released", credits: found.credits, parts: ended.value.returned })
}

/** Returns the credits of a hold that has expired. `undefined` means that it has not, or that it ended before. */
export const expireHold = (
  books: State.BooksState,
  { account, at, reference }: Pick<Hold, "account" | "reference"> & Pick<EndCommand, "at">
): Decided<State.BooksState, { readonly credits: number } | undefined> => {
  const found = State.findHold(State.accountOf(books, account), reference)
  if (found?.state !== "open" || stateAt(found, State.storageTime(books, at)) === "open") {
    return { state: books, value: undefined }
  }
  const ended = endHold(books, found, { state: "expired", credits: 0, at })
  return { state: ended.state, value: { credits: found.credits } }
}

/** Returns the refusal of a command whose reference has a hold. */
export const alreadyHeld = (hold: Hold, at: DateTime.Utc): Reasons.AlreadyHeld => {
  const { credits, expiresAt, reference } = hold
  return new Reasons.AlreadyHeld({ reference, credits, expiresAt, state: stateAt(hold, at) })
}

/** Returns the state of a hold. It is `expired` from its expiry on, also if its credits are not returned yet. */
export const stateAt = ({ expiresAt, state }: Hold, at: DateTime.Utc): Hold["state"] =>
  state === "open" && DateTime.isLessThanOrEqualTo(expiresAt, at) ? "expired" : state

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the account of a command, the time by the clock of the storage, and the hold with the reference. */
const findRequested = (
  books: State.BooksState,
  command: Pick<HoldCommand, "account" | "reference" | "at">
) => {
  const { account: name, reference } = command
  State.checkRequested(books, { account: name, kind: "hold", reference }, command.at)
  const account = State.accountOf(books, name)
  return { account, at: State.storageTime(books, command.at), found: State.findHold(account, reference) }
}

/** Throws if it is later than a hold may expire. */
const expiryOf = (books: State.BooksState, command: HoldCommand, at: DateTime.Utc): DateTime.Utc => {
  const latest = (from: DateTime.Utc) => DateTime.addDuration(from, books.holdLifetimeMax)
  // A duration starts by the clock of the storage. A moment was chosen by the clock of the caller.
  const [expiresAt, max] = command.expiresAt === undefined
    ? [DateTime.addDuration(at, command.within), latest(at)]
    : [command.expiresAt, latest(command.at)]
  if (DateTime.isGreaterThan(expiresAt, max)) {
    throw new Error(`A hold must expire by ${DateTime.formatIso(max)}, got ${DateTime.formatIso(expiresAt)}`)
  }
  return expiresAt
}
