/** Errors of `Sessions` and `Members`. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { MemberId } from "./Member.ts"
import { SessionId } from "./Session.ts"

/** No session with this id is within the reach of the caller. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>("@kinora/sessions/SessionNotFound")(
  "SessionNotFound",
  { session: SessionId.schema }
) {}

/** The maximum number of sign-in codes is valid. Use one, or wait until one expires. */
export class TooManyCodes extends Schema.TaggedError<TooManyCodes>("@kinora/sessions/TooManyCodes")(
  "TooManyCodes",
  { codesMax: Schema.Int }
) {}

/** The account has no member with this id. */
export class MemberNotFound extends Schema.TaggedError<MemberNotFound>("@kinora/sessions/MemberNotFound")(
  "MemberNotFound",
  { member: MemberId.schema }
) {}

/** The account has a member with this identity. */
export class MemberExists extends Schema.TaggedError<MemberExists>("@kinora/sessions/MemberExists")(
  "MemberExists",
  { member: MemberId.schema }
) {}

/** The account has the maximum number of members. Remove one first. */
export class TooManyMembers extends Schema.TaggedError<TooManyMembers>("@kinora/sessions/TooManyMembers")(
  "TooManyMembers",
  { membersMax: Schema.Int }
) {}

/** A text of a member is empty, too long, or contains control characters. */
export class MemberInvalid extends Schema.TaggedError<MemberInvalid>("@kinora/sessions/MemberInvalid")(
  "MemberInvalid",
  { field: Schema.Literals(["issuer", "subject", "email"]), charsMax: Schema.Int }
) {}

/** Reason of a `SessionsError`. */
export const SessionsErrorReason = Schema.Union([
  SessionNotFound,
  TooManyCodes,
  MemberNotFound,
  MemberExists,
  TooManyMembers,
  MemberInvalid
])
/** Type of `SessionsErrorReason`. */
export type SessionsErrorReason = typeof SessionsErrorReason.Type

/** The error of a rejected command. Nothing was changed. */
export class SessionsError extends Rejection.define<SessionsError>("@kinora/sessions/SessionsError")(
  "SessionsError",
  "Sessions",
  SessionsErrorReason
) {}

/**
 * The token does not authenticate. `unknown`: no session has it, or the session was ended. `expired`: the session has
 * reached its maximum age. `idle`: it was not used for too long. Do not tell the caller which one.
 */
export class SessionRejected extends Schema.TaggedError<SessionRejected>("@kinora/sessions/SessionRejected")(
  "SessionRejected",
  { reason: Schema.Literals(["unknown", "expired", "idle"]) }
) {
  override get message(): string {
    return `The session was rejected: ${this.reason}`
  }
}

/** The sign-in code does not exist, was used or has expired. Do not tell the caller which one. */
export class CodeRejected extends Schema.TaggedError<CodeRejected>("@kinora/sessions/CodeRejected")(
  "CodeRejected",
  { reason: Schema.Literals(["unknown", "expired"]) }
) {
  override get message(): string {
    return `The sign-in code was rejected: ${this.reason}`
  }
}
