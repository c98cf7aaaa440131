/** The class of the error with which a package rejects commands: it has a `reason`, one class per broken rule. */
import { type Cause, Schema } from "effect"

/** A broken rule. Most reasons have no message, since their fields contain all. */
export interface Reason {
  readonly _tag: string
  readonly message: string
}

/** The schema of the reasons of a package: a union of error classes. */
export type Reasons = Schema.Codec<Reason, unknown>

/** The class that `define` returns. */
export type RejectionClass<Self, Tag extends string, Of extends Reasons> = Schema.Class<
  Self,
  Schema.TaggedStruct<Tag, { readonly reason: Of }>,
  Cause.YieldableError
>

/**
 * Defines the error class of a package. `rejecter` begins its message, such as "Sessions rejected the command:
 * TooManyCodes"; the message of a reason that has one replaces it.
 *
 *     class SessionsError extends Rejection.define<SessionsError>("@kinora/sessions/SessionsError")(
 *       "SessionsError",
 *       "Sessions",
 *       SessionsErrorReason
 *     ) {}
 */
export function define<Self>(identifier: string): <const Tag extends string, Of extends Reasons>(
  tag: Tag,
  rejecter: string,
  reasons: Of
) => RejectionClass<Self, Tag, Of>
export function define(identifier: string) {
  return (tag: string, rejecter: string, reasons: Reasons) =>
    class Rejection extends Schema.TaggedError<Rejection>(identifier)(tag, { reason: reasons }) {
      override get message(): string {
        const { _tag, message } = this.reason
        return message === "" ? `${rejecter} rejected the command: ${_tag}` : message
      }
    }
}
