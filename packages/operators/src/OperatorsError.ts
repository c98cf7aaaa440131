/** Errors of `Operators` and `AuditLog`. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { OperatorId } from "./Operator.ts"

/** No operator has this id. */
export class OperatorNotFound extends Schema.TaggedError<OperatorNotFound>("@kinora/operators/OperatorNotFound")(
  "OperatorNotFound",
  { operator: OperatorId.schema }
) {}

/** The operator is revoked or expired, so a new token would not work. Create another operator. */
export class OperatorEnded extends Schema.TaggedError<OperatorEnded>("@kinora/operators/OperatorEnded")(
  "OperatorEnded",
  { operator: OperatorId.schema }
) {}

/** The name is blank, too long, or contains control characters. */
export class NameInvalid extends Schema.TaggedError<NameInvalid>("@kinora/operators/NameInvalid")(
  "NameInvalid",
  { charsMax: Schema.Int }
) {}

/** The time of expiry is not in the future. */
export class ExpiryInvalid extends Schema.TaggedError<ExpiryInvalid>("@kinora/operators/ExpiryInvalid")(
  "ExpiryInvalid",
  {}
) {}

/** The overlap of a rotation is negative, or longer than `secondsMax`. */
export class OverlapInvalid extends Schema.TaggedError<OverlapInvalid>("@kinora/operators/OverlapInvalid")(
  "OverlapInvalid",
  { secondsMax: Schema.Int }
) {}

/** The maximum number of operators is in use. Revoke one first. */
export class TooManyOperators extends Schema.TaggedError<TooManyOperators>("@kinora/operators/TooManyOperators")(
  "TooManyOperators",
  { operatorsMax: Schema.Int }
) {}

/** `before` or `after` of an audit entry has more than `bytesMax` bytes as JSON. Store less of the subject. */
export class AuditValueTooLarge extends Schema.TaggedError<AuditValueTooLarge>("@kinora/operators/AuditValueTooLarge")(
  "AuditValueTooLarge",
  { field: Schema.Literals(["before", "after"]), bytesMax: Schema.Int }
) {}

/** Reason of an `OperatorsError`. */
export const OperatorsErrorReason = Schema.Union([
  OperatorNotFound,
  OperatorEnded,
  NameInvalid,
  ExpiryInvalid,
  OverlapInvalid,
  TooManyOperators,
  AuditValueTooLarge
])
/** Type of `OperatorsErrorReason`. */
export type OperatorsErrorReason = typeof OperatorsErrorReason.Type

/** The error of a rejected command. Nothing was changed. */
export class OperatorsError extends Rejection.define<OperatorsError>("@kinora/operators/OperatorsError")(
  "OperatorsError",
  "Operators",
  OperatorsErrorReason
) {}

/**
 * The token does not authenticate. `unknown`: no operator has it. `expired`: the operator has expired, or the overlap
 * after a rotation has ended. `revoked`: the operator is revoked. Do not tell the caller which one.
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>("@kinora/operators/TokenRejected")(
  "TokenRejected",
  { reason: Schema.Literals(["unknown", "expired", "revoked"]) }
) {
  override get message(): string {
    return `The token of the operator was rejected: ${this.reason}`
  }
}
