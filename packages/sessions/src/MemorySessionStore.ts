/** Stores sessions, sign-in codes and members in the memory of the process, for tests and for hosts that keep nothing. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import type { Member, MemberId } from "./Member.ts"
import * as Session from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<SessionStore, never, UnitOfWork.MemoryBackend> = Layer.effect(
  SessionStore,
  Effect.map(UnitOfWork.MemoryBackend, (backend) =>
    SessionStore.of({
      // The memory backend runs one unit at a time, so no lock is needed.
      lock: () => Effect.void,
      ...sessionAndCodeMethods(backend),
      ...memberMethods(backend)
    }))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Row {
  readonly session: Session.Session
  readonly hash: string
}

interface CodeRow {
  readonly code: Session.SignInCode
  readonly hash: string
}

const isWithin = (reach: Session.Reach, grant: Session.Grant): boolean =>
  "account" in reach ? Session.accountOf(grant) === reach.account : Session.subjectOf(grant) === reach.subject

const sessionAndCodeMethods = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => {
  const rows = makeMap<Session.SessionId, Row>()
  const codes = makeMap<string, CodeRow>()

  return {
    insertSession: (session, hash) => access(() => rows.set(session.id, { session, hash })),
    findSession: (hash) =>
      access(() => Option.fromUndefinedOr(Array.from(rows.values()).find((row) => row.hash === hash)?.session)),
    listSessions: (reach) =>
      access(() =>
        Array.from(rows.values(), ({ session }) => session)
          .filter(({ grant }) => isWithin(reach, grant))
          .toSorted((a, b) => DateTime.Order(b.seenAt, a.seenAt) || (a.id < b.id ? 1 : -1))
      ),
    deleteSessions: (ids) => access(() => ids.filter((id) => rows.delete(id)).length),
    noteUse: (id, seenAt, idleUntil) =>
      access(() => {
        const row = rows.get(id)
        if (row === undefined || !Session.isUseDue(row.session, seenAt)) return
        rows.set(id, { ...row, session: { ...row.session, seenAt, idleUntil } })
      }),
    insertCode: (code, hash) => access(() => codes.set(hash, { code, hash })),
    countCodes: (subject, now) =>
      access(() =>
        Array.from(codes.values()).filter(({ code: { expiresAt, grant } }) =>
          Session.subjectOf(grant) === subject && DateTime.isGreaterThan(expiresAt, now)
        ).length
      ),
    takeCode: (hash) =>
      access(() => {
        const found = codes.get(hash)
        codes.delete(hash)
        return Option.fromUndefinedOr(found?.code)
      }),
    deleteCodes: (reach) =>
      access(() => {
        for (const { code, hash } of Array.from(codes.values())) if (isWithin(reach, code.grant)) codes.delete(hash)
      }),
    deleteEnded: (now, limit) =>
      access(() => {
        const ended = Array.from(rows.values())
          .filter(({ session }) => Session.endedBy(session, now) !== undefined)
          .slice(0, limit)
        for (const { session } of ended) rows.delete(session.id)
        const expired = Array.from(codes.values())
          .filter(({ code }) => DateTime.isLessThanOrEqualTo(code.expiresAt, now))
          .slice(0, limit)
        for (const { hash } of expired) codes.delete(hash)
        return Math.max(ended.length, expired.length)
      })
  } satisfies Partial<SessionStore["Service"]>
}

const memberMethods = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => {
  const rows = makeMap<MemberId, Member>()
  const select = (matches: (member: Member) => boolean) =>
    access(() => Array.from(rows.values()).filter(matches).toSorted((a, b) => a.id < b.id ? 1 : -1))

  return {
    insertMember: (member) => access(() => rows.set(member.id, member)),
    listMembers: (account) => select((member) => member.account === account),
    findMembers: ({ issuer, subject }) => select((member) => member.issuer === issuer && member.subject === subject),
    saveRole: (id, role) =>
      access(() => {
        const member = rows.get(id)
        if (member !== undefined) rows.set(id, { ...member, role })
      }),
    deleteMembers: (ids) =>
      access(() => {
        for (const id of ids) rows.delete(id)
      })
  } satisfies Partial<SessionStore["Service"]>
}
