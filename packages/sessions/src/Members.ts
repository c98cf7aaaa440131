/** Members of accounts: people who sign in with an identity provider. */
import { type StorageError, UnitOfWork } from "@kinora/persistence"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Identity, isText, type Member, MemberId, type MemberRole, textCharsMax } from "./Member.ts"
import {
  MemberExists,
  MemberInvalid,
  MemberNotFound,
  SessionsError,
  type SessionsErrorReason,
  TooManyMembers
} from "./SessionsError.ts"
import { SessionStore } from "./SessionStore.ts"

/** A member to add. */
export type NewMember = Pick<Member, "account" | "email" | "issuer" | "role" | "subject">

/** The failures of the service: a rejected command, or the storage. */
export type Failure = SessionsError | StorageError.StorageError

/** Adds, lists, changes and removes members. */
export class Members extends Context.Service<Members, {
  /** Adds a member. An account has at most `membersMax`, each with another identity. */
  readonly add: (member: NewMember) => Effect.Effect<Member, Failure>

  /** Returns the members of an account, newest first. */
  readonly list: (account: string) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  /** Returns the members with this identity: one for each account of the person. */
  readonly find: (identity: Identity) => Effect.Effect<ReadonlyArray<Member>, StorageError.StorageError>

  /** Returns a member of an account. */
  readonly get: (account: string, id: MemberId) => Effect.Effect<Member, Failure>

  /**
   * Gives a member the identity of the person at an identity provider, with which the member signs in from then on. Sessions
   * and sign-in links of the member stay valid.
   */
  readonly identify: (account: string, id: MemberId, identity: Identity) => Effect.Effect<Member, Failure>

  /** Changes the role of a member, and ends the member's sessions and sign-in links, since the rights of a session do not change. Idempotent. */
  readonly setRole: (account: string, id: MemberId, role: MemberRole) => Effect.Effect<Member, Failure>

  /** Removes a member and ends the member's sessions and sign-in links. */
  readonly remove: (account: string, id: MemberId) => Effect.Effect<void, Failure>

  /** Removes all members of an account and ends their sessions. Idempotent. */
  readonly removeAll: (account: string) => Effect.Effect<void, StorageError.StorageError>
}>()("@kinora/sessions/Members") {}

/** Options for `layerWith`. */
export interface MembersOptions {
  /** Maximum number of members of an account. Default 100. */
  readonly membersMax?: number | undefined
}

const make = Effect.fnUntraced(function*({ membersMax = 100 }: MembersOptions) {
  const store = yield* SessionStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom

  const { checkTexts, endSessions, get, lock } = makeHelpers(store)

  return Members.of({
    add: Effect.fn("Members.add")(
      function*(member: NewMember) {
        yield* checkTexts({ issuer: member.issuer, subject: member.subject, email: member.email })
        yield* store.lock(membersOf(member.account))
        const members = yield* store.listMembers(member.account)
        const same = members.find(({ issuer, subject }) => issuer === member.issuer && subject === member.subject)
        if (same !== undefined) return yield* refuse(new MemberExists({ member: same.id }))
        if (members.length >= membersMax) return yield* refuse(new TooManyMembers({ membersMax }))
        const added: Member = { ...member, id: yield* MemberId.make, createdAt: yield* DateTime.now }
        yield* store.insertMember(added)
        return added
      },
      atomically,
      Effect.provideService(SecureRandom.SecureRandom, random)
    ),

    list: Effect.fn("Members.list")(store.listMembers),

    find: Effect.fn("Members.find")((identity: Identity) =>
      // No member has such an identity, and the database rejects U+0000.
      isText(identity.issuer) && isText(identity.subject) ? store.findMembers(identity) : Effect.succeed([])
    ),

    get: Effect.fn("Members.get")(get),

    identify: Effect.fn("Members.identify")(makeIdentify(store), atomically),

    setRole: Effect.fn("Members.setRole")(function*(account: string, id: MemberId, role: MemberRole) {
      const member = yield* lock(account, id)
      if (member.role === role) return member
      yield* store.saveRole(id, role)
      yield* endSessions([member])
      return { ...member, role }
    }, atomically),

    remove: Effect.fn("Members.remove")(function*(account: string, id: MemberId) {
      const member = yield* lock(account, id)
      yield* store.deleteMembers([id])
      yield* endSessions([member])
    }, atomically),

    removeAll: Effect.fn("Members.removeAll")(function*(account: string) {
      yield* store.lock(membersOf(account))
      const members = yield* store.listMembers(account)
      yield* store.deleteMembers(members.map(({ id }) => id))
      yield* endSessions(members)
    }, atomically)
  })
})

/** Provides the service over the surrounding store. */
export const layerWith = (
  options: MembersOptions
): Layer.Layer<Members, never, SessionStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(Members, make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the functions that the methods share. */
const makeHelpers = (store: SessionStore["Service"]) => {
  const get = Effect.fnUntraced(function*(account: string, id: MemberId) {
    const found = yield* store.findMember(id)
    return Option.isNone(found) || found.value.account !== account
      ? yield* refuse(new MemberNotFound({ member: id }))
      : found.value
  })

  const lock = Effect.fnUntraced(function*(account: string, id: MemberId) {
    yield* store.lock(membersOf(account))
    return yield* get(account, id)
  })

  const checkTexts = Effect.fnUntraced(function*(texts: Partial<Pick<Member, "email" | "issuer" | "subject">>) {
    for (const field of ["issuer", "subject", "email"] as const) {
      const text = texts[field]
      if (text !== undefined && !isText(text)) {
        return yield* refuse(new MemberInvalid({ field, charsMax: textCharsMax }))
      }
    }
  })

  const endSessions = Effect.fnUntraced(function*(members: ReadonlyArray<Member>) {
    for (const { id } of members) {
      // The codes first, like a redemption, so that one that is in progress ends its session here too.
      yield* store.deleteCodes({ subject: `member:${id}` })
      const sessions = yield* store.listSessions({ subject: `member:${id}` })
      yield* store.deleteSessions(sessions.map(({ session }) => session.id))
    }
  })

  return { checkTexts, endSessions, get, lock }
}

/** Makes `Members.identify`. */
const makeIdentify = (store: SessionStore["Service"]) => {
  const { checkTexts, lock } = makeHelpers(store)
  return Effect.fnUntraced(function*(account: string, id: MemberId, { issuer, subject }: Identity) {
    yield* checkTexts({ issuer, subject })
    const member = yield* lock(account, id)
    const members = yield* store.listMembers(account)
    const same = members.find((other) => other.issuer === issuer && other.subject === subject)
    if (same !== undefined) return same.id === id ? same : yield* refuse(new MemberExists({ member: same.id }))
    yield* store.saveIdentity(id, { issuer, subject })
    return { ...member, issuer, subject }
  })
}

const membersOf = (account: string) => `members:${account}`

const refuse = (reason: SessionsErrorReason) => new SessionsError({ reason })
