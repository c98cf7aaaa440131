/** Stores sessions, sign-in codes and members in the memory of the process, for tests and for hosts that keep nothing. */
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import type { Member, MemberId } from "./Member.ts"
import * as Session from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<SessionStore, never, UnitOfWork.MemoryBackend> = Layer.effect(
  SessionStore,
  Effect.map(UnitOfWork.MemoryBackend, (backend) => {
    const { deleteExpired, ...codes } = codeMethods(backend)
    const { deleteIdle, ...sessions } = sessionMethods(backend)
    return SessionStore.of({
      // The memory backend runs one unit at a time, so no lock is needed.
      lock: () => Effect.void,
      ...sessions,
      ...codes,
      ...memberMethods(backend),
      deleteEnded: (limit) => Effect.zipWith(deleteIdle(limit), deleteExpired(limit), Math.max)
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Row {
  readonly session: Session.Session
  readonly hash: string
}

/** Deletes up to `limit` rows that have ended, and returns their number. */
type Deletion<Name extends string> = { readonly [Key in Name]: (limit: number) => Effect.Effect<number> }

interface CodeRow {
  readonly code: Session.SignInCode
  readonly hash: string
}

const isWithin = (reach: Session.Reach, grant: Session.Grant): boolean =>
  "account" in reach ? Session.accountOf(grant) === reach.account : Session.subjectOf(grant) === reach.subject

/** Makes the function that runs `body` with the current time. */
const accessNowOf = ({ access }: UnitOfWork.MemoryBackend["Service"]) => <A>(body: (now: DateTime.Utc) => A) =>
  Effect.flatMap(DatabaseTime.inMemory, (now) => access(() => body(now)))

const sessionMethods = (backend: UnitOfWork.MemoryBackend["Service"]) => {
  const { access } = backend
  const rows = backend.makeMap<Session.SessionId, Row>()
  const accessNow = accessNowOf(backend)

  return {
    insertSession: ({ hash, idle, maxAge, notAfter, ...start }) =>
      accessNow((now) => {
        const latest = DateTime.addDuration(now, maxAge)
        const session: Session.Session = {
          ...start,
          createdAt: now,
          seenAt: now,
          expiresAt: Option.match(notAfter, { onNone: () => latest, onSome: (time) => DateTime.min(latest, time) }),
          idleUntil: DateTime.addDuration(now, idle),
          view: Option.none()
        }
        rows.set(session.id, { session, hash })
        return session
      }),
    findSession: (hash) =>
      accessNow((at) =>
        Option.map(
          Option.fromUndefinedOr(Array.from(rows.values()).find((row) => row.hash === hash)),
          ({ session }) => ({ session, at })
        )
      ),
    listSessions: (reach) =>
      accessNow((at) =>
        Array.from(rows.values(), ({ session }) => session)
          .filter(({ grant }) => isWithin(reach, grant))
          .toSorted((a, b) => DateTime.Order(b.seenAt, a.seenAt) || (a.id < b.id ? 1 : -1))
          .map((session) => ({ session, at }))
      ),
    deleteSessions: (ids) => access(() => ids.forEach((id) => rows.delete(id))),
    noteUse: (id, idle) =>
      accessNow((now) => {
        const row = rows.get(id)
        if (row === undefined || !Session.isUseDue(row.session, now)) return
        const idleUntil = DateTime.addDuration(now, idle)
        rows.set(id, { ...row, session: { ...row.session, seenAt: now, idleUntil } })
      }),
    saveView: (id, view) =>
      accessNow((now) =>
        Option.map(Option.fromUndefinedOr(rows.get(id)), (row) => {
          const session = {
            ...row.session,
            view: Option.map(view, ({ account, maxAge }) => ({
              account,
              until: DateTime.min(DateTime.addDuration(now, maxAge), row.session.expiresAt)
            }))
          }
          rows.set(id, { ...row, session })
          return session
        })
      ),
    deleteIdle: (limit: number) =>
      accessNow((now) => {
        const ended = Array.from(rows.values())
          .filter(({ session }) => Session.endedBy(session, now) !== undefined)
          .slice(0, limit)
        for (const { session } of ended) rows.delete(session.id)
        return ended.length
      })
  } satisfies Partial<SessionStore["Service"]> & Deletion<"deleteIdle">
}

const codeMethods = (backend: UnitOfWork.MemoryBackend["Service"]) => {
  const { access } = backend
  const codes = backend.makeMap<string, CodeRow>()
  const accessNow = accessNowOf(backend)

  return {
    insertCode: (grant, hash, maxAge) =>
      accessNow((createdAt) => {
        const code = { grant, createdAt, expiresAt: DateTime.addDuration(createdAt, maxAge) }
        codes.set(hash, { code, hash })
        return code
      }),
    countCodes: (subject) =>
      accessNow((now) =>
        Array.from(codes.values()).filter(({ code: { expiresAt, grant } }) =>
          Session.subjectOf(grant) === subject && DateTime.isGreaterThan(expiresAt, now)
        ).length
      ),
    takeCode: (hash) =>
      accessNow((at) => {
        const found = codes.get(hash)
        codes.delete(hash)
        return Option.map(Option.fromUndefinedOr(found), ({ code }) => ({ code, at }))
      }),
    deleteCodes: (reach) =>
      access(() => {
        for (const { code, hash } of Array.from(codes.values())) if (isWithin(reach, code.grant)) codes.delete(hash)
      }),
    deleteExpired: (limit: number) =>
      accessNow((now) => {
        const expired = Array.from(codes.values())
          .filter(({ code }) => DateTime.isLessThanOrEqualTo(code.expiresAt, now))
          .slice(0, limit)
        for (const { hash } of expired) codes.delete(hash)
        return expired.length
      })
  } satisfies Partial<SessionStore["Service"]> & Deletion<"deleteExpired">
}

const memberMethods = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => {
  const rows = makeMap<MemberId, Member>()
  const select = (matches: (member: Member) => boolean) =>
    access(() => Array.from(rows.values()).filter(matches).toSorted((a, b) => a.id < b.id ? 1 : -1))

  const update = (id: MemberId, change: Partial<Member>) =>
    access(() => {
      const member = rows.get(id)
      if (member !== undefined) rows.set(id, { ...member, ...change })
    })

  return {
    insertMember: (member) => access(() => rows.set(member.id, member)),
    listMembers: (account) => select((member) => member.account === account),
    findMembers: ({ issuer, subject }) => select((member) => member.issuer === issuer && member.subject === subject),
    findMember: (id) => access(() => Option.fromUndefinedOr(rows.get(id))),
    saveIdentity: (id, { issuer, subject }) => update(id, { issuer, subject }),
    saveRole: (id, role) => update(id, { role }),
    deleteMembers: (ids) =>
      access(() => {
        for (const id of ids) rows.delete(id)
      })
  } satisfies Partial<SessionStore["Service"]>
}
