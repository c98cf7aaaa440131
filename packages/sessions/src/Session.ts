/** Sessions and what they permit. */
import { TypeId } from "@kinora/persistence"
import { DateTime, Option, Schema } from "effect"
import { MemberId, MemberRole } from "./Member.ts"

/** Codec and constructors of session ids, `ses_…`. */
export const SessionId = TypeId.define("ses", "SessionId")
/** Type of `SessionId`. */
export type SessionId = TypeId.Id<"SessionId">

/** Role of an operator. The package stores it; the host decides what a role permits. */
export const OperatorRole = Schema.Literals(["owner", "operator", "support", "auditor"])
/** Type of `OperatorRole`. */
export type OperatorRole = typeof OperatorRole.Type

/**
 * Rights of a session. They never change: a person who gets other rights signs in again.
 *
 * The host chooses the ids of accounts, keys and operators, and rejects a session whose account, key or operator has ended.
 */
export const Grant = Schema.Union([
  /** An account, with the rights of an API key. */
  Schema.Struct({ scope: Schema.Literal("key"), account: Schema.String, key: Schema.String }),
  /** An account, with the rights of a role. `member` is `null` for a sign-in link. */
  Schema.Struct({
    scope: Schema.Literal("account"),
    account: Schema.String,
    role: MemberRole,
    member: Schema.NullOr(MemberId.schema)
  }),
  Schema.Struct({ scope: Schema.Literal("operator"), operator: Schema.String, role: OperatorRole })
])
/** Type of `Grant`. */
export type Grant = typeof Grant.Type

/** The client that signs in. */
export interface Client {
  /** The `User-Agent` of the request. `None` if it had none. */
  readonly device: Option.Option<string>
  /** The network address. */
  readonly address: string
}

/** The account that an operator views, with the rights of a viewer. */
export interface View {
  readonly account: string
  /** When it ends. */
  readonly until: DateTime.Utc
}

/** A session. Its token is returned once and not stored. */
export interface Session extends Client {
  readonly id: SessionId
  readonly grant: Grant
  readonly createdAt: DateTime.Utc
  /** When it was last used, accurate to a minute. */
  readonly seenAt: DateTime.Utc
  /** When it ends, even if it is used. */
  readonly expiresAt: DateTime.Utc
  /** When it ends unless it is used before. */
  readonly idleUntil: DateTime.Utc
  /** The account that the session views. `None` for sessions of accounts. */
  readonly view: Option.Option<View>
}

/** A sign-in code. The code itself is returned once and not stored. */
export interface SignInCode {
  readonly grant: Grant
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/** A set of sessions: those of one subject, or those of one account. */
export type Reach = { readonly subject: string } | { readonly account: string }

/** Maximum length of the stored `User-Agent`, in UTF-16 code units. */
export const deviceCharsMax = 256

/** Returns the text that identifies whose session it is. The maximum number of sessions and codes applies to it. */
export const subjectOf = (grant: Grant): string => {
  switch (grant.scope) {
    case "key":
      return `key:${grant.key}`
    case "account":
      return grant.member === null ? `account:${grant.account}:${grant.role}` : `member:${grant.member}`
    case "operator":
      return `operator:${grant.operator}`
  }
}

/** Returns the account of a grant, or `null` for operators. */
export const accountOf = (grant: Grant): string | null => grant.scope === "operator" ? null : grant.account

/**
 * Returns the sessions that a session can list and end: those of its account if its role is `member`, otherwise those of
 * the same API key, viewer or operator.
 */
export const reachOf = (grant: Grant): Reach =>
  grant.scope === "account" && grant.role === "member"
    ? { account: grant.account }
    : { subject: subjectOf(grant) }

/** Returns whether a session has ended at this time, and why. */
export const endedBy = (
  { expiresAt, idleUntil }: Pick<Session, "expiresAt" | "idleUntil">,
  now: DateTime.Utc
): "expired" | "idle" | undefined => {
  if (DateTime.isLessThanOrEqualTo(expiresAt, now)) return "expired"
  return DateTime.isLessThanOrEqualTo(idleUntil, now) ? "idle" : undefined
}

/** Returns a session without a view that has ended at this time. */
export const withoutEndedView = (session: Session, now: DateTime.Utc): Session => ({
  ...session,
  view: Option.filter(session.view, ({ until }) => DateTime.isGreaterThan(until, now))
})

/** Returns whether a use at this time is recorded: at most one per minute. */
export const isUseDue = ({ seenAt }: Pick<Session, "seenAt">, now: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(DateTime.add(seenAt, { minutes: 1 }), now)

/**
 * Returns the sessions of a subject to end, so that a new one fits: those that have ended, then those that were not used
 * for the longest time.
 */
export const displaced = (
  found: ReadonlyArray<{ readonly session: Session; readonly at: DateTime.Utc }>,
  sessionsMax: number
): ReadonlyArray<SessionId> => {
  const ended = found.filter(({ at, session }) => endedBy(session, at) !== undefined)
  const left = found
    .filter(({ at, session }) => endedBy(session, at) === undefined)
    .toSorted((a, b) => DateTime.Order(b.session.seenAt, a.session.seenAt) || (a.session.id < b.session.id ? 1 : -1))
  return [...ended, ...left.slice(Math.max(0, sessionsMax - 1))].map(({ session }) => session.id)
}

/** Returns the text to store of a `User-Agent`: without control characters, and not too long. */
export const deviceOf = (userAgent: string): string =>
  userAgent.replaceAll(/\p{Cc}/gu, "").slice(0, deviceCharsMax).toWellFormed()
