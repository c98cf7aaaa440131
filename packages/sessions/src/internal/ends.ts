/** Listing and ending sessions. */
import { Pipelining, type UnitOfWork } from "@kinora/persistence"
import { Effect, Option, Redacted } from "effect"
import * as Session from "../Session.ts"
import { SessionNotFound, SessionsError } from "../SessionsError.ts"
import type { SessionStore } from "../SessionStore.ts"
import * as SessionToken from "../SessionToken.ts"

/** Creates the methods of `Sessions` that list and end sessions. */
export const makeEnds = (
  store: SessionStore["Service"],
  atomically: UnitOfWork.UnitOfWork["Service"]["atomically"]
) => {
  const deleteSessions = (ids: ReadonlyArray<Session.SessionId>) => Pipelining.atCommit(store.deleteSessions(ids))

  const endAll = Effect.fnUntraced(function*(reach: Session.Reach, except?: Session.SessionId) {
    // The codes first, like a redemption, so that one that is in progress ends its session here too.
    yield* Pipelining.atCommit(store.deleteCodes(reach))
    const found = yield* store.listSessions(reach)
    yield* deleteSessions(found.map(({ session }) => session.id).filter((id) => id !== except))
  }, atomically)

  return {
    list: Effect.fn("Sessions.list")(function*(grant: Session.Grant) {
      const found = yield* store.listSessions(Session.reachOf(grant))
      return found.flatMap(({ at, session }) => Session.endedBy(session, at) === undefined ? [session] : [])
    }),

    end: Effect.fn("Sessions.end")(function*(grant: Session.Grant, id: Session.SessionId) {
      const found = (yield* store.listSessions(Session.reachOf(grant))).some(({ session }) => session.id === id)
      if (!found) return yield* new SessionsError({ reason: new SessionNotFound({ session: id }) })
      yield* deleteSessions([id])
    }, atomically),

    endOthers: Effect.fn("Sessions.endOthers")(({ grant, id }: Session.Session) => endAll(Session.reachOf(grant), id)),

    endAll: Effect.fn("Sessions.endAll")((reach: Session.Reach) => endAll(reach)),

    signOut: Effect.fn("Sessions.signOut")(function*(token: Redacted.Redacted) {
      if (!SessionToken.isWellFormed(Redacted.value(token))) return Option.none()
      const found = Option.map(yield* store.findSession(SessionToken.hash(token)), ({ session }) => session)
      yield* deleteSessions(Option.toArray(found).map(({ id }) => id))
      return found
    }, atomically),

    deleteEnded: Effect.fn("Sessions.deleteEnded")(store.deleteEnded)
  }
}
