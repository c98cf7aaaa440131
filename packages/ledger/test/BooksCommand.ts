/** Random commands for books. */
import { DateTime, HashMap, Result, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as State from "../src/internal/booksState.ts"
import { expireLot } from "../src/internal/expire.ts"
import { expireHold } from "../src/internal/holds.ts"
import { revokeLot } from "../src/internal/revokeLot.ts"

/** The span of all commands. */
export const start = DateTime.makeUnsafe("2026-11-20T00:00:00.000Z")
export const end = DateTime.add(start, { days: 1_000 })

export const atHour = (hour: number) => DateTime.add(start, { hours: hour })

/** Few references, so that charges are repeated and refunds find them. */
export const referencesMax = 250

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const kindNames = ["plan", "addon", "trial", "refund", "gift"] as const

/** Kinds of lots with random rules, of which lots of refunds are not restricted. */
export const lotKinds = Schema.Record(
  Schema.Literals(kindNames),
  Schema.Struct({ rank: between(-1, 2), restricted: Schema.Boolean })
).pipe(Schema.refine((kinds): kinds is typeof kinds => !kinds.refund.restricted))
export type LotKinds = typeof lotKinds.Type

/** The names in a text. */
export const namesIn = (text: string): ReadonlyArray<string> => text.split(" ").filter((name) => name !== "")

/** A command, and what happens around it. */
export const command = Schema.Struct({
  does: Schema.Literals([
    "grant",
    "charge",
    "charge again",
    "count",
    "refund",
    "refund again",
    "refund part",
    "refund part again",
    "expire",
    "revoke",
    "hold",
    "hold again",
    "capture",
    "capture part",
    "release"
  ]),
  account: Schema.Literals(["ann", "bob"]),
  reference: between(0, referencesMax),
  credits: between(0, 12),
  purpose: Schema.UndefinedOr(Schema.Literals(["image", "voice"])),
  /** The labels of a granted lot. */
  labels: Schema.Literals(["", "watermark", "beta", "beta watermark"]),
  /** The kinds that a charge allows, besides those that are not restricted. */
  allows: Schema.Literals(["", "trial", "plan", "trial gift"]),
  kind: Schema.Literals(kindNames),
  /** Whether a command that ends a hold names any reference. */
  guesses: Schema.Boolean,
  /** The amount of a charge to a quota. */
  counts: between(1, 4),
  livesHours: between(1, 24),
  /** The reference of a part. */
  part: between(0, 3),
  /** Hours that pass before the command. */
  waits: between(0, 1),
  /** Hours that the clock of the command's host is behind. */
  lags: between(0, 8),
  /** Whether the decision is not adopted. */
  abandons: Schema.Boolean,
  /** Whether the books are saved and loaded again afterwards. */
  saves: Schema.Boolean
})
export type Command = typeof command.Type

/** The part that the command refunds. */
export const partOf = ({ credits, part }: Pick<Command, "credits" | "part">) => ({
  reference: `${part}`,
  credits: 1 + credits % 4
})

/** The reference of the command. Those that end holds mostly name an open one. */
export const referenceOf = (
  books: Books.Books,
  { account, does, guesses, reference }:
    & Pick<Command, "does" | "guesses" | "reference">
    & { readonly account: string }
): string => {
  const endsHold = does === "capture" || does === "capture part" || does === "release"
  const open = Array.from(HashMap.values(State.accountOf(books, account).holds)).filter(({ state }) => state === "open")
  return endsHold && !guesses && open.length > 0 ? open[reference % open.length]!.reference : `${reference}`
}

/** Decides the command and returns the next state, which is the given one if the command is refused. */
export const decideAny = (
  books: Books.Books,
  command: Omit<Command, "account"> & { readonly account: string },
  hour: number
): Books.Books => {
  const { account, counts, credits, kind, purpose } = command
  const labels = namesIn(command.labels)
  const kindsAllowed = namesIn(command.allows)
  const reference = referenceOf(books, command)
  const at = atHour(hour)
  const accept = <A, Refusal>(decision: Result.Result<{ readonly state: Books.Books; readonly value: A }, Refusal>) =>
    Result.isSuccess(decision) ? decision.success.state : books
  switch (command.does) {
    case "grant": {
      const expiresAt = atHour(hour + command.livesHours)
      return accept(
        Books.grant(books, {
          account,
          reference,
          kind,
          purpose,
          labels,
          credits: credits + 1,
          expiresAt,
          at
        })
      )
    }
    case "charge":
    case "charge again":
      return accept(Books.charge(books, {
        account,
        reference,
        amount: { _tag: "Credits", credits, purpose, kindsAllowed },
        at
      }))
    case "count":
      return accept(
        Books.charge(books, { account, reference, amount: { _tag: "Quota", kind, limit: credits, amount: counts }, at })
      )
    case "refund":
    case "refund again":
      return accept(Books.refund(books, { account, reference, at }))
    case "refund part":
    case "refund part again":
      return accept(Books.refund(books, { account, reference, part: partOf(command), at }))
    case "hold":
    case "hold again":
      return accept(Books.hold(books, {
        account,
        reference,
        credits,
        purpose,
        kindsAllowed,
        expiresAt: atHour(hour + command.livesHours),
        at
      }))
    case "capture":
      return accept(Books.capture(books, { account, reference, at }))
    case "capture part":
      return accept(Books.capture(books, { account, reference, credits: Math.floor(credits / 2), at }))
    case "release":
      return accept(Books.release(books, { account, reference, at }))
    case "expire": {
      const { holds } = State.accountOf(books, account)
      const expired = Array.from(HashMap.keys(holds)).reduce(
        (state, reference) => expireHold(state, { account, reference, at }).state,
        books
      )
      return expireLots(expired, account, at)
    }
    case "revoke": {
      const lot = State.accountOf(books, account).lots[0]
      return lot === undefined ? books : accept(revokeLot(books, { account, lot: lot.id, at }))
    }
  }
}

const expireLots = (books: Books.Books, account: string, at: DateTime.Utc): Books.Books =>
  State.accountOf(books, account).lots.reduce(
    (state, { id }) => expireLot(state, { account, lot: id, at }).state,
    books
  )
