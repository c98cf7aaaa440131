/** Operators and their roles. */
import { TypeId } from "@kinora/persistence"
import { DateTime, Option, Schema } from "effect"

/** Codec and constructors of operator ids, `opr_…`. */
export const OperatorId = TypeId.define("opr", "OperatorId")
/** Type of `OperatorId`. */
export type OperatorId = TypeId.Id<"OperatorId">

/** Role of an operator. The package stores it; the host decides what a role permits. */
export const Role = Schema.Literals(["owner", "operator", "support", "auditor"])
/** Type of `Role`. */
export type Role = typeof Role.Type

/** The record of an operator. The token itself is returned once and not stored. */
export interface Operator {
  readonly id: OperatorId
  readonly name: string
  readonly role: Role
  /** The first 12 characters of the current token, for recognition. */
  readonly prefix: string
  readonly createdAt: DateTime.Utc
  /** Time from which no token of the operator works. `None`: never. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  readonly revokedAt: Option.Option<DateTime.Utc>
  /** Accurate to a minute. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  /** Time until which the token before the last rotation works. `None`: the token was never rotated. */
  readonly formerTokenUntil: Option.Option<DateTime.Utc>
}

/** Returns whether an operator is neither revoked nor expired. */
export const isActive = ({ expiresAt, revokedAt }: Operator, now: DateTime.Utc): boolean =>
  Option.isNone(revokedAt) && !Option.exists(expiresAt, (time) => DateTime.isLessThanOrEqualTo(time, now))

/** Maximum length of the name of an operator, in UTF-16 code units. */
export const nameCharsMax = 100

/** Returns whether `text` is a valid name: not blank, not too long, without control characters. */
export const isName = (text: string): boolean =>
  text.length <= nameCharsMax && text.trim() !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed()
