/** The port of the storage of operators and audit entries. `Operators` and `AuditLog` decide; a store loads and writes. */
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { AuditEntry, AuditQuery } from "./AuditEntry.ts"
import type { Operator, OperatorId } from "./Operator.ts"

/** The owner of a token. */
export interface TokenOwner {
  readonly operator: Operator
  /** Whether the token is the one before the last rotation. */
  readonly isFormer: boolean
}

/** Which entries to delete. */
export interface DeleteCommand {
  /** Deletes entries from before this time. */
  readonly before: DateTime.Utc
  /** The maximum number of entries to delete. */
  readonly limit: number
  /** Deletes only entries of this action. `undefined`: of all actions. */
  readonly action: string | undefined
}

/** Stores operators and audit entries. */
export class OperatorStore extends Context.Service<OperatorStore, {
  /** Locks the set of operators until the unit ends, so that the number of operators does not change meanwhile. */
  readonly lockAll: () => Effect.Effect<void, StorageError.StorageError>

  /** Returns the number of operators that are neither revoked nor expired at `now`. */
  readonly count: (now: DateTime.Utc) => Effect.Effect<number, StorageError.StorageError>

  readonly insert: (operator: Operator, hash: string) => Effect.Effect<void, StorageError.StorageError>

  readonly find: (id: OperatorId) => Effect.Effect<Option.Option<Operator>, StorageError.StorageError>

  /** Locks the operator until the unit ends, then returns it. */
  readonly lock: (id: OperatorId) => Effect.Effect<Option.Option<Operator>, StorageError.StorageError>

  /** Returns operators that are not revoked before revoked ones, newest first, at most `limit`. */
  readonly list: (limit: number) => Effect.Effect<ReadonlyArray<Operator>, StorageError.StorageError>

  /** Makes `hash` the token of a locked operator. The token before becomes the former one until `formerUntil`. */
  readonly replaceToken: (
    id: OperatorId,
    next: { readonly hash: string; readonly prefix: string; readonly formerUntil: DateTime.Utc }
  ) => Effect.Effect<void, StorageError.StorageError>

  /** Revokes a locked operator. */
  readonly revoke: (id: OperatorId, at: DateTime.Utc) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the operator whose current or former token has this hash, whatever its state. */
  readonly findOwner: (hash: string) => Effect.Effect<Option.Option<TokenOwner>, StorageError.StorageError>

  /** Records a use, unless one within the minute before `at` is recorded. Skips an operator that another unit has locked. */
  readonly noteUse: (id: OperatorId, at: DateTime.Utc) => Effect.Effect<void, StorageError.StorageError>

  readonly append: (entry: AuditEntry) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the entries that match, newest first. */
  readonly entries: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageError.StorageError>

  /** Deletes the entries of the command, oldest first, and returns their number. Skips locked entries. */
  readonly deleteEntries: (command: DeleteCommand) => Effect.Effect<number, StorageError.StorageError>
}>()("@kinora/operators/OperatorStore") {}
