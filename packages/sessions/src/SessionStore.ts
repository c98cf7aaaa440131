/** The port of the storage of sessions, sign-in codes and members. The services decide; a store loads and writes. */
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Identity, Member, MemberId, MemberRole } from "./Member.ts"
import type { Reach, Session, SessionId, SignInCode } from "./Session.ts"

/** Stores sessions, sign-in codes and members. */
export class SessionStore extends Context.Service<SessionStore, {
  /** Locks the sessions and codes of a subject, or the members of an account, until the unit ends, so that their number does not grow meanwhile. */
  readonly lock: (subject: string) => Effect.Effect<void, StorageError.StorageError>

  readonly insertSession: (session: Session, hash: string) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the session whose token has this hash, even if it has ended. */
  readonly findSession: (hash: string) => Effect.Effect<Option.Option<Session>, StorageError.StorageError>

  /** Returns the sessions within reach, the one that was used last first, also those that have ended. */
  readonly listSessions: (reach: Reach) => Effect.Effect<ReadonlyArray<Session>, StorageError.StorageError>

  /** Deletes sessions and returns their number. Locks them in the order of their ids. */
  readonly deleteSessions: (ids: ReadonlyArray<SessionId>) => Effect.Effect<number, StorageError.StorageError>

  /** Records a use, unless one within the minute before `at` is recorded. Skips a session that another unit has locked. */
  readonly noteUse: (
    id: SessionId,
    at: DateTime.Utc,
    idleUntil: DateTime.Utc
  ) => Effect.Effect<void, StorageError.StorageError>

  readonly insertCode: (code: SignInCode, hash: string) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the number of codes of a subject that have not expired at `now`. */
  readonly countCodes: (subject: string, now: DateTime.Utc) => Effect.Effect<number, StorageError.StorageError>

  /** Deletes the code with this hash and returns it, even if it has expired. Of concurrent units, one gets it. */
  readonly takeCode: (hash: string) => Effect.Effect<Option.Option<SignInCode>, StorageError.StorageError>

  /** Deletes the codes within reach. */
  readonly deleteCodes: (reach: Reach) => Effect.Effect<void, StorageError.StorageError>

  /** Deletes up to `limit` sessions and up to `limit` codes that have ended at `now`, and returns the larger number. Skips locked rows. */
  readonly deleteEnded: (now: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError.StorageError>

  readonly insertMember: (member: Member) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the members of an account, newest first. */
  readonly listMembers: (account: string) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  /** Returns the members with this identity, newest first. */
  readonly findMembers: (identity: Identity) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  readonly saveRole: (id: MemberId, role: MemberRole) => Effect.Effect<void, StorageError.StorageError>

  readonly deleteMembers: (ids: ReadonlyArray<MemberId>) => Effect.Effect<void, StorageError.StorageError>
}>()("@kinora/sessions/SessionStore") {}
