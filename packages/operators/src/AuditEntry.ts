/** Entries of the audit log. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import { Role } from "./Operator.ts"

/** Codec and constructors of the ids of entries, `aud_…`. */
export const AuditId = TypeId.define("aud", "AuditId")
/** Type of `AuditId`. */
export type AuditId = TypeId.Id<"AuditId">

/** Role of an author: of an operator, or of a member of an account. */
export const AuditRole = Schema.Literals([...Role.literals, "member", "viewer"])
/** Type of `AuditRole`. */
export type AuditRole = typeof AuditRole.Type

/** A change to record. Its values must not contain secrets. */
export interface AuditChange {
  /** The author of the change: the id of an operator or of a member, or a name that the host chooses, such as `owner`. */
  readonly actor: string
  /** The role of the actor at that time. `null`: nobody was authenticated, as in a failed sign-in. */
  readonly role: AuditRole | null
  /** The network address of the request. */
  readonly address: string
  readonly requestId: string
  /** The name of the operation, such as `suspendAccount`. */
  readonly action: string
  /** The id of the object that was changed. `null`: the operation concerns no single object. */
  readonly subject: string | null
  /** The object before the change, at most 16 KiB as JSON. `null`: not recorded. */
  readonly before: Schema.Json
  /** The object after the change, at most 16 KiB as JSON. `null`: not recorded. */
  readonly after: Schema.Json
}

/** A recorded change. */
export interface AuditEntry extends AuditChange {
  readonly id: AuditId
  readonly at: DateTime.Utc
}

/** Which entries to list. */
export interface AuditQuery {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly subject?: string | undefined
  /** Lists only entries from this time on. */
  readonly since?: DateTime.Utc | undefined
  /** Lists only entries before this time. */
  readonly until?: DateTime.Utc | undefined
  /** Continues after this entry, the last one of the page before. */
  readonly after?: AuditId | undefined
  readonly limit: number
}

/** Maximum length of `before` and of `after` as JSON, in bytes of UTF-8. */
export const valueBytesMax = 16 * 1_024
