/** Listing and ending sessions. */
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { Session, Sessions } from "@kinora/sessions"
import { changes, note } from "../../middleware/changes.ts"
import { currentSession } from "../../middleware/consoleAuthentication.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { listedToWire } from "../../wire/session.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(ConsoleApi, "sessions", function*(handlers) {
  const sessions = yield* Sessions.Sessions

  return handlers.handleAll({
    listSessions: answers([], function*() {
      const current = yield* currentSession
      const found = yield* sessions.list(current.grant)
      return { data: found.map((session) => listedToWire(session, current)) }
    }),

    endOtherSessions: changes([], function*() {
      const current = yield* currentSession
      yield* sessions.endOthers(current)
      yield* note({ after: { account: Session.accountOf(current.grant) } })
    }),

    endSession: changes(["SessionNotFound"], function*({ params }) {
      const { grant } = yield* currentSession
      yield* sessions.end(grant, yield* parseId(Session.SessionId.parse, params.id))
      yield* note({ after: { account: Session.accountOf(grant) } })
    })
  })
})
