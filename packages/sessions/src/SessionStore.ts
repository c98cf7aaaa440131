/**
 * The port of the storage of sessions, sign-in codes and members. The services decide; a store loads and writes.
 *
 * Sessions and codes have the times of the store: a store in SQL has those of the database, since the clocks of hosts
 * differ.
 */
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Duration, type Effect, type Option } from "effect"
import type { Identity, Member, MemberId, MemberRole } from "./Member.ts"
import type { Grant, Reach, Session, SessionId, SignInCode } from "./Session.ts"

/** A session, and the time at which the store read it. */
export interface FoundSession {
  readonly session: Session
  readonly at: DateTime.Utc
}

/** A sign-in code, and the time at which the store has read it. */
export interface FoundCode {
  readonly code: SignInCode
  readonly at: DateTime.Utc
}

/** A session to insert. It begins now. */
export interface SessionStart extends Pick<Session, "address" | "device" | "grant" | "id"> {
  readonly hash: string
  readonly idle: Duration.Duration
  readonly maxAge: Duration.Duration
  /** Time at which it ends at the latest. */
  readonly notAfter: Option.Option<DateTime.Utc>
}

/** Stores sessions, sign-in codes and members. */
export class SessionStore extends Context.Service<SessionStore, {
  /** Locks the sessions and codes of a subject, or the members of an account, until the unit ends, so that their number does not grow meanwhile. */
  readonly lock: (subject: string) => Effect.Effect<void, StorageError.StorageError>

  readonly insertSession: (start: SessionStart) => Effect.Effect<Session, StorageError.StorageError>

  /** Returns the session whose token has this hash, even if it has ended. */
  readonly findSession: (hash: string) => Effect.Effect<Option.Option<FoundSession>, StorageError.StorageError>

  /** Returns the sessions within reach, the one that was used last first, also those that have ended. */
  readonly listSessions: (reach: Reach) => Effect.Effect<ReadonlyArray<FoundSession>, StorageError.StorageError>

  /** Deletes sessions. Locks them in the order of their ids. */
  readonly deleteSessions: (ids: ReadonlyArray<SessionId>) => Effect.Effect<void, StorageError.StorageError>

  /** Records a use now, unless one within the last minute is recorded. Skips a session that another unit has locked. */
  readonly noteUse: (id: SessionId, idle: Duration.Duration) => Effect.Effect<void, StorageError.StorageError>

  /**
   * Begins to view an account for `maxAge`, at most until the session ends, or ends the view. Returns the session, if it
   * exists.
   */
  readonly saveView: (
    id: SessionId,
    view: Option.Option<{ readonly account: string; readonly maxAge: Duration.Duration }>
  ) => Effect.Effect<Option.Option<Session>, StorageError.StorageError>

  /** Inserts a code that is valid for `maxAge` from now on. */
  readonly insertCode: (
    grant: Grant,
    hash: string,
    maxAge: Duration.Duration
  ) => Effect.Effect<SignInCode, StorageError.StorageError>

  /** Returns the number of codes of a subject that have not expired. */
  readonly countCodes: (subject: string) => Effect.Effect<number, StorageError.StorageError>

  /** Deletes the code with this hash and returns it, even if it has expired. Of concurrent units, one gets it. */
  readonly takeCode: (hash: string) => Effect.Effect<Option.Option<FoundCode>, StorageError.StorageError>

  /** Deletes the codes within reach. */
  readonly deleteCodes: (reach: Reach) => Effect.Effect<void, StorageError.StorageError>

  /** Deletes up to `limit` sessions and up to `limit` codes that have ended, and returns the larger number. Skips locked rows. */
  readonly deleteEnded: (limit: number) => Effect.Effect<number, StorageError.StorageError>

  readonly insertMember: (member: Member) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the members of an account, newest first. */
  readonly listMembers: (account: string) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  /** Returns the members with this identity, newest first. */
  readonly findMembers: (identity: Identity) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  readonly findMember: (id: MemberId) => Effect.Effect<Option.Option<Member>, StorageError.StorageError>

  /** Sets the identity of a member. Its account must have no other member with this identity. */
  readonly saveIdentity: (id: MemberId, identity: Identity) => Effect.Effect<void, StorageError.StorageError>

  readonly saveRole: (id: MemberId, role: MemberRole) => Effect.Effect<void, StorageError.StorageError>

  readonly deleteMembers: (ids: ReadonlyArray<MemberId>) => Effect.Effect<void, StorageError.StorageError>
}>()("@kinora/sessions/SessionStore") {}
