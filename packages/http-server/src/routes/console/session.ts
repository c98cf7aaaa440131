/** Sign-in, the current session, and sign-out. */
import type { KeyTerms } from "@kinora/accounts"
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import type { SignInRequest } from "@kinora/http-api/ConsoleSession"
import { AuditLog } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { type Session, Sessions } from "@kinora/sessions"
import { Effect, Option, Redacted } from "effect"
import { HttpApiSchema } from "effect/http-api"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { makeCheckKey } from "../../middleware/authentication.ts"
import { currentRequest, type RequestState } from "../../middleware/currentRequest.ts"
import { answers } from "../../middleware/refusals.ts"
import * as SessionCookie from "../../middleware/sessionCookie.ts"
import * as SessionOwner from "../../middleware/sessionOwner.ts"
import { currentToWire } from "../../wire/session.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(
    ConsoleApi,
    "session",
    Effect.fnUntraced(function*(handlers) {
      const sessions = yield* Sessions.Sessions
      const { find, ownerOf } = yield* SessionOwner.make(options)
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const signIn = yield* makeSignIn(options)
      const audit = yield* makeAudit

      return handlers.handleAll({
        signIn: answers([], function*({ payload }) {
          const state = yield* currentRequest
          const { session, token } = yield* signIn(payload, state)
          return HttpApiSchema.withHeaders({
            body: undefined,
            headers: { "set-cookie": SessionCookie.set(state, options, token, session.expiresAt) }
          })
        }),

        getSession: answers([], function*() {
          const found = yield* find(yield* currentRequest, "peek")
          return found === undefined ? null : currentToWire(found)
        }),

        signOut: answers([], function*() {
          const state = yield* currentRequest
          const token = SessionCookie.tokenOf(state, options)
          if (token !== undefined) {
            yield* atomically(Effect.gen(function*() {
              const ended = yield* sessions.signOut(token)
              if (Option.isNone(ended)) return
              const { grant, id } = ended.value
              yield* audit("session.signOut", id, yield* ownerOf(grant, id), state)
            }))
          }
          return HttpApiSchema.withHeaders({
            body: undefined,
            headers: { "set-cookie": SessionCookie.remove(state, options), "clear-site-data": "\"cache\"" as const }
          })
        })
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalidCode = refuse("invalid_code")
const unauthorized = refuse("unauthorized", { message: "The API key is not valid; check it, or use another one." })

/** Makes the function that starts the session of a code or of an API key. */
const makeSignIn = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const sessions = yield* Sessions.Sessions
  const { ownerOf } = yield* SessionOwner.make(options)
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { checkKey, countFailure } = yield* makeCheckKey(options)
  const audit = yield* makeAudit

  /** A code whose owner has ended is rejected, and the unit rolls back. */
  const redeem = (code: Redacted.Redacted, signIn: Sessions.SignIn, state: RequestState) =>
    atomically(Effect.gen(function*() {
      const started = yield* sessions.redeem(code, signIn)
      const { grant, id } = started.session
      const owner = yield* ownerOf(grant, id)
      if (owner === undefined) return yield* Effect.fail({ _tag: "OwnerEnded" } as const)
      yield* audit("session.signIn", id, owner, state)
      return started
    }))

  return Effect.fnUntraced(function*(payload: SignInRequest, state: RequestState) {
    const signIn: Sessions.SignIn = {
      device: Option.fromUndefinedOr(state.request.headers["user-agent"]),
      address: addressOf(state),
      replaces: SessionCookie.tokenOf(state, options)
    }
    const rejectCode = () => Effect.andThen(countFailure(state), invalidCode)
    if ("code" in payload) {
      return yield* redeem(Redacted.make(payload.code), signIn, state).pipe(
        Effect.catchTags({ CodeRejected: rejectCode, OwnerEnded: rejectCode })
      )
    }
    const caller = yield* checkKey(Redacted.make(payload.api_key), state, undefined).pipe(
      // Signing in requires no scope.
      Effect.catchTag("scope_missing", Effect.die)
    )
    if (caller?.keyId === undefined) {
      yield* countFailure(state)
      return yield* unauthorized
    }
    const grant: Session.Grant = { scope: "key", account: caller.account.id, key: caller.keyId }
    const terms: KeyTerms.KeyTerms = caller.terms
    return yield* sessions.start(grant, { ...signIn, notAfter: Option.getOrUndefined(terms.expiresAt) })
  })
})

/** Makes the function that records sign-ins and sign-outs of operators. */
const makeAudit = Effect.gen(function*() {
  const { append } = yield* AuditLog.AuditLog
  return Effect.fnUntraced(function*(
    action: "session.signIn" | "session.signOut",
    subject: string,
    owner: SessionOwner.Owned["owner"] | undefined,
    state: RequestState
  ) {
    if (owner?._tag !== "Operator") return
    const { actor, role } = owner
    yield* append({
      actor,
      role,
      address: addressOf(state),
      requestId: state.id,
      action,
      subject,
      before: null,
      after: null
    })
  })
})

const addressOf = ({ request }: RequestState): string => Option.getOrElse(request.remoteAddress, () => "unknown")
