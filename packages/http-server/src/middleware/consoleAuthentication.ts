/** Authentication of the console by session. See docs/reference/console-api.md#access. */
import { ConsoleAuth, CurrentConsoleSession, SameOrigin } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { RateLimit } from "@kinora/rate-limit"
import { Session } from "@kinora/sessions"
import { ByteSize, Context, Effect, Layer } from "effect"
import { HttpIncomingMessage } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Callers from "./callers.ts"
import * as Changes from "./changes.ts"
import { CurrentIdentity, currentIdentity, currentRequest, type RequestState } from "./currentRequest.ts"
import { makeCountFailure, rateLimited, sessionRequests } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/** `ConsoleAuth`: checks the session, what it permits and its limit, then limits the body. */
export const layer = (options: HttpServerOptions) =>
  Layer.effect(
    ConsoleAuth,
    Effect.gen(function*() {
      const { find } = yield* SessionOwner.make(options)
      const rateLimit = yield* RateLimit.RateLimit
      const countFailure = makeCountFailure(rateLimit, options)
      const checkCaller = Callers.makeCheck(rateLimit, options)
      const provideAuditing = yield* Changes.makeProvide

      const authenticate = Effect.fnUntraced(function*(state: RequestState) {
        const found = yield* find(state, "authenticate")
        if (found !== undefined) return found
        yield* countFailure(state)
        return yield* unauthorized
      })

      /** Counts the request against the limit of the session, and checks its rights. */
      const check = Effect.fnUntraced(function*(
        { owner, session }: SessionOwner.Owned,
        state: RequestState,
        { access = "member", scope }: RequestPolicy.Policy
      ) {
        if (owner._tag === "Account") {
          yield* checkCaller(owner.caller, state, isPermitted(access, session.grant) ? scope : undefined)
        } else {
          const verdict = yield* rateLimit.hit(sessionRequests(session.id, options))
          state.limit = verdict
          if (!verdict.accepted) return yield* rateLimited("key", verdict, null)
        }
        if (!isPermitted(access, session.grant)) return yield* refuse("session_not_allowed", { details: { access } })
      })

      return {
        session: Effect.fnUntraced(function*(app, { endpoint }) {
          const state = yield* currentRequest
          if (!SessionCookie.isPermitted(state, options)) return yield* refuse("cross_origin")
          const owned = yield* authenticate(state).pipe(
            Effect.tap((owned) => check(owned, state, RequestPolicy.of(endpoint))),
            Effect.catchTags({
              StorageError: unavailable,
              // The account and the key of an owner are active.
              account_suspended: () => unauthorized,
              key_expired: () => unauthorized
            })
          )
          const { owner, session } = owned
          return yield* provideAuditing(app, authorOf(session.grant, owner)).pipe(
            Effect.provideService(CurrentConsoleSession, toContract(owned)),
            Effect.provideService(CurrentSession, session),
            Effect.provideService(CurrentIdentity, owner._tag === "Account" ? owner.caller : undefined),
            Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(options.bodyBytesMax))
          )
        })
      }
    })
  )

/** `SameOrigin`: rejects changes from other pages, then limits the body. */
export const layerSameOrigin = (options: HttpServerOptions) =>
  Layer.succeed(
    SameOrigin,
    Effect.fnUntraced(function*(app) {
      if (!SessionCookie.isPermitted(yield* currentRequest, options)) return yield* refuse("cross_origin")
      return yield* Effect.provideService(
        app,
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(options.bodyBytesMax)
      )
    })
  )

/** The session of the current request of the console. */
export const currentSession: Effect.Effect<Session.Session> = Effect.withFiber((fiber) => {
  const session = fiber.getRef(CurrentSession)
  return session === undefined
    ? Effect.die(new Error("A handler of the console ran without authentication"))
    : Effect.succeed(session)
})

/** Returns the author of changes with a session: the operator, the member, the API key, or the account of a link. */
export const authorOf = (grant: Session.Grant, owner: SessionOwner.Owned["owner"]): Changes.Author => {
  if (owner._tag === "Operator") return { actor: owner.actor, role: owner.role }
  return grant.scope === "account"
    ? { actor: grant.member ?? grant.account, role: grant.role }
    : { actor: owner.caller.keyId ?? owner.caller.account.id, role: "member" }
}

/** The account of the session of the current request. Dies if the session has none, which `ConsoleAccess` excludes. */
export const currentAccount = Effect.map(currentIdentity, ({ account }) => account.id)

/** The member of the session of the current request; `null` for a sign-in link of the account, or an API key. */
export const currentMember = Effect.map(currentSession, ({ grant }) => grant.scope === "account" ? grant.member : null)

/** The role of a session in the API. */
export const roleOf = (grant: Session.Grant) => grant.scope === "key" ? "member" : grant.role

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CurrentSession = Context.Reference<Session.Session | undefined>("@kinora/http-server/CurrentSession", {
  defaultValue: () => undefined
})

const unauthorized = refuse("unauthorized", { message: "There is no session; sign in." })

const isPermitted = (access: RequestPolicy.ConsoleAccess, grant: Session.Grant): boolean => {
  switch (access) {
    case "any":
      return true
    case "key":
      return grant.scope !== "operator"
    case "viewer":
      return grant.scope === "account"
    case "member":
      return grant.scope === "account" && grant.role === "member"
  }
}

const toContract = ({ owner, session: { grant, id } }: SessionOwner.Owned): CurrentConsoleSession["Service"] => ({
  id,
  scope: grant.scope,
  role: roleOf(grant),
  account: Session.accountOf(grant) ?? undefined,
  key: grant.scope === "key" ? grant.key : undefined,
  operator: owner._tag === "Operator" ? owner.actor : undefined
})
