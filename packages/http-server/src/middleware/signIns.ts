/** Starts of sessions, and their entries in the audit log. See docs/reference/console-api.md#sign-in-and-out. */
import { AuditLog } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { RateLimit } from "@kinora/rate-limit"
import type { Session, Sessions } from "@kinora/sessions"
import { Data, Effect, Option, type Schema } from "effect"
import * as AuditActions from "../AuditActions.ts"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { authorOf } from "./consoleAuthentication.ts"
import type { RequestState } from "./currentRequest.ts"
import { makeCountFailure, recordedFailures } from "./rateLimits.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/** The account, the member, the key or the operator of the session has ended. */
class OwnerEnded extends Data.TaggedError("OwnerEnded")<{}> {}

/** Details of a sign-in for its entry, without secrets. */
export type Details = Readonly<Record<string, Schema.Json>>

/** Makes the functions that start a session, and that record a failed attempt. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { ownerOf } = yield* SessionOwner.make(options)
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const rateLimit = yield* RateLimit.RateLimit
  const countFailure = makeCountFailure(rateLimit, options)
  const { append } = yield* AuditLog.AuditLog

  /** Runs the start of a session, and records it in the same unit of work. If the owner has ended, the unit rolls back. */
  const started = <E, R>(
    state: RequestState,
    start: Effect.Effect<Sessions.NewSession, E, R>,
    details: Details
  ) =>
    atomically(Effect.gen(function*() {
      const { session, token } = yield* start
      const owner = yield* ownerOf(session.grant, session.id)
      if (owner === undefined) return yield* new OwnerEnded()
      yield* append({
        ...requestOf(state),
        ...authorOf(session.grant, owner),
        action: "session.signIn",
        subject: session.id,
        before: null,
        after: { scope: session.grant.scope, ...details }
      })
      return { session, token }
    }))

  /**
   * Counts a failed attempt of the address. Records the first one with each reason in an hour, and the first one that
   * reaches the limit: clients without an account must not fill the log.
   */
  const failed = Effect.fnUntraced(function*(state: RequestState, reason: string, details: Details) {
    const { remaining } = yield* countFailure(state)
    const reachesLimit = remaining === 0
    const kinds = reachesLimit ? ["limit", reason] : [reason]
    const recorded = yield* rateLimit.hitAll(kinds.map((kind) => recordedFailures(state, kind)))
    if (!recorded.some(({ accepted }) => accepted)) return
    yield* append({
      ...requestOf(state),
      actor: "unknown",
      role: null,
      action: AuditActions.failedSignIn,
      subject: null,
      before: null,
      after: { reason, ...details, ...(reachesLimit ? { limit_reached: true } : {}) }
    })
  })

  return { started, failed }
})

/** Makes the function that records the end of a session by its owner. */
export const makeRecordSignOut = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { ownerOf } = yield* SessionOwner.make(options)
  const { append } = yield* AuditLog.AuditLog

  return Effect.fnUntraced(function*(state: RequestState, { grant, id }: Session.Session) {
    const owner = yield* ownerOf(grant, id)
    // A session whose owner has ended has ended before.
    if (owner === undefined) return
    yield* append({
      ...requestOf(state),
      ...authorOf(grant, owner),
      action: "session.signOut",
      subject: id,
      before: null,
      after: null
    })
  })
})

/** Returns the client of a request that signs in. */
export const clientOf = (state: RequestState, options: HttpServerOptions): Sessions.SignIn => ({
  device: Option.fromUndefinedOr(state.request.headers["user-agent"]),
  address: requestOf(state).address,
  replaces: SessionCookie.tokenOf(state, options)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const requestOf = ({ id, request }: RequestState) => ({
  address: Option.getOrElse(request.remoteAddress, () => "unknown"),
  requestId: id
})
