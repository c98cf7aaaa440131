/** Starts of sessions, and their entries in the audit log. See docs/reference/console-api.md#sign-in-and-out. */
import { AuditLog } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { RateLimit } from "@kinora/rate-limit"
import type { Member, Session, Sessions } from "@kinora/sessions"
import { Data, Effect, Option, type Schema } from "effect"
import { Digest } from "effect/crypto"
import * as AuditActions from "../AuditActions.ts"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { authorOf } from "./consoleAuthentication.ts"
import type { RequestState } from "./currentRequest.ts"
import { makeCountFailure } from "./rateLimits.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/** The account, the member, the key or the operator of the session has ended. */
class OwnerEnded extends Data.TaggedError("OwnerEnded")<{}> {}

/** Details of a sign-in for its entry, without secrets. */
export interface Details extends Readonly<Record<string, Schema.Json>> {
  /** The method of the sign-in. */
  readonly by: string
}

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

  const record = yield* makeRecordFailure

  /**
   * Counts a failed attempt of the address. Records one with each method and reason in an hour, for each person who was
   * authenticated, and one that is rejected because of the limit.
   */
  const failed = Effect.fnUntraced(function*(
    state: RequestState,
    reason: string,
    details: Details,
    person?: Member.Identity
  ) {
    yield* Effect.tapErrorTag(
      countFailure(state),
      "rate_limited",
      () => record(state, ["limit"], { reason, ...details, limit_reached: true })
    )
    const one = person === undefined ? [] : [person.issuer, person.subject]
    yield* record(state, [details.by, reason, ...one], { reason, ...details })
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

/**
 * Maximum number of failed sign-ins that the service records in an hour: clients without an account must not fill the log,
 * also with many addresses, or many identities at a provider at which everybody can register.
 */
const recordedFailuresMax = 1_000

/**
 * Makes the function that records a failed sign-in, unless one that is alike was recorded for the site in this hour. `alike`
 * is what distinguishes it from others of the site.
 */
const makeRecordFailure = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { hit } = yield* RateLimit.RateLimit
  const { append } = yield* AuditLog.AuditLog
  const { digestHex } = yield* Digest.Digest

  return Effect.fnUntraced(function*(state: RequestState, alike: ReadonlyArray<string>, after: Schema.JsonObject) {
    // A digest, since the identity of a person is too long for a key, and not to be stored with the limits.
    const kind = yield* digestHex(Digest.sha256, new TextEncoder().encode(JSON.stringify(alike)))
    const key = `failed-sign-in:${kind}:${state.clientSite}`
    // Rejects most failures without a statement. That of the hour cannot: a unit remembers no limit that is used up.
    if (!(yield* hit({ key, limit: 1 })).accepted) return
    // In one unit with the entry, so that a failure of a later minute is recorded if this one could not be.
    yield* atomically(Effect.gen(function*() {
      if (!(yield* hit({ key, limit: 1, window: "1 hour" })).accepted) return
      if (!(yield* hit({ key: "failed-sign-in", limit: recordedFailuresMax, window: "1 hour" })).accepted) return
      yield* append({
        ...requestOf(state),
        actor: "unknown",
        role: null,
        action: AuditActions.failedSignIn,
        subject: null,
        before: null,
        after
      })
    }))
  })
})

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }

const requestOf = ({ id, request }: RequestState) => ({
  address: Option.getOrElse(request.remoteAddress, () => "unknown"),
  requestId: id
})
