/** Authentication of the console by session and by API key. See docs/reference/console-api.md#access. */
import { ConsoleAuth, ConsoleKeyAuth, CurrentConsoleSession, SameOrigin } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { RateLimit } from "@kinora/rate-limit"
import { Session } from "@kinora/sessions"
import { Context, Effect, Layer } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { bearerOf, makeCheckKey } from "./authentication.ts"
import * as Callers from "./callers.ts"
import * as Changes from "./changes.ts"
import { type Caller, CurrentIdentity, currentIdentity, currentRequest, type RequestState } from "./currentRequest.ts"
import { makeCountFailure, rateLimited, sessionRequests } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"
import * as RequestBodies from "./requestBodies.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/** `ConsoleAuth`: checks the session, what it permits and its limit, then limits the body. */
export const layer = (options: HttpServerOptions) =>
  Layer.effect(
    ConsoleAuth,
    Effect.gen(function*() {
      const { bodyBytesMax } = options
      const authenticate = yield* makeAuthenticate(options)
      const provideAuditing = yield* Changes.makeProvide

      return {
        session: Effect.fnUntraced(function*(app, { endpoint }) {
          const state = yield* currentRequest
          const owned = yield* authenticate(state, endpoint)
          const limited = RequestBodies.limitSmall(app, state, { bodyBytesMax, endpoint, owner: ownerOf(owned) })
          return yield* provideAuditing(limited, authorOf(owned.session.grant, owned.owner)).pipe(
            Effect.provideService(CurrentConsoleSession, toContract(owned)),
            Effect.provideService(CurrentSession, owned.session),
            Effect.provideService(CurrentIdentity, SessionOwner.callerOf(owned))
          )
        })
      }
    })
  )

/**
 * `ConsoleKeyAuth`: checks the API key, or the session if the request has no `Authorization`, then limits the body. The
 * second scheme checks both, so the first one always leaves the decision to it.
 */
export const layerWithKey = (options: HttpServerOptions) =>
  Layer.effect(
    ConsoleKeyAuth,
    Effect.gen(function*() {
      const { bodyBytesMax } = options
      const authenticate = yield* makeAuthenticate(options)
      const { checkKey, countFailure } = yield* makeCheckKey(options)
      const provideAuditing = yield* Changes.makeProvide

      return {
        bearer: () => unauthorized,
        session: Effect.fnUntraced(function*(app, { endpoint }) {
          const state = yield* currentRequest
          const { authorization } = state.request.headers
          if (authorization === undefined) {
            const owned = yield* authenticate(state, endpoint)
            const limited = RequestBodies.limitSmall(app, state, { bodyBytesMax, endpoint, owner: ownerOf(owned) })
            return yield* provideAuditing(limited, authorOf(owned.session.grant, owned.owner)).pipe(
              Effect.provideService(CurrentIdentity, SessionOwner.callerOf(owned))
            )
          }
          const credential = bearerOf(authorization)
          const caller = credential === undefined
            ? undefined
            : yield* checkKey(credential, state, RequestPolicy.of(endpoint).scope)
          if (caller === undefined) {
            yield* countFailure(state)
            return yield* refuse("unauthorized")
          }
          const limited = RequestBodies.limitSmall(app, state, { bodyBytesMax, endpoint, owner: caller.account.id })
          return yield* provideAuditing(limited, authorWithKey(caller)).pipe(
            Effect.provideService(CurrentIdentity, caller)
          )
        })
      }
    })
  )

/** `SameOrigin`: rejects changes from other pages, then limits the body. */
export const layerSameOrigin = (options: HttpServerOptions) =>
  Layer.succeed(
    SameOrigin,
    Effect.fnUntraced(function*(app, { endpoint }) {
      const state = yield* currentRequest
      if (!SessionCookie.isPermitted(state, options)) return yield* refuse("cross_origin")
      const { bodyBytesMax } = options
      return yield* RequestBodies.limitSmall(app, state, { bodyBytesMax, endpoint, owner: undefined })
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
    : authorWithKey(owner.caller)
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

const authorWithKey = ({ account, keyId }: Caller): Changes.Author => ({ actor: keyId ?? account.id, role: "member" })

const unauthorized = refuse("unauthorized", { message: "There is no session; sign in." })

/** Makes the function that returns the session of a request, if it permits the endpoint, and its owner. */
const makeAuthenticate = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { find } = yield* SessionOwner.make(options)
  const rateLimit = yield* RateLimit.RateLimit
  const countFailure = makeCountFailure(rateLimit, options)
  const checkCaller = Callers.makeCheckSession(rateLimit, options)

  /** Counts the request against the limit of the session, and checks its rights. */
  const check = Effect.fnUntraced(function*(
    owned: SessionOwner.Owned,
    state: RequestState,
    { access = "member", authentication, scope }: RequestPolicy.Policy
  ) {
    const { session: { grant, id }, view } = owned
    const permitted = isPermitted(access, grant, view) ||
      grant.scope === "key" && authentication === "keyOrSession"
    const caller = SessionOwner.callerOf(owned)
    if (caller !== undefined) {
      // Unless `access` is `key`, only sessions with a key need the scope. The role of the others is checked above.
      const isScoped = permitted && (access === "key" || grant.scope === "key")
      yield* checkCaller(caller, state, isScoped ? scope : undefined)
    } else {
      const verdict = yield* rateLimit.hit(sessionRequests(id, options))
      state.limit = verdict
      if (!verdict.accepted) return yield* rateLimited("key", verdict, null)
    }
    if (!permitted && view !== undefined) return yield* refuse("view_only")
    if (!permitted) return yield* refuse("session_not_allowed", { details: { access } })
  })

  return Effect.fnUntraced(
    function*(state: RequestState, endpoint: HttpApiEndpoint.Top) {
      if (!SessionCookie.isPermitted(state, options)) return yield* refuse("cross_origin")
      const owned = yield* find(state, "authenticate")
      if (owned === undefined) {
        yield* countFailure(state)
        return yield* unauthorized
      }
      yield* check(owned, state, RequestPolicy.of(endpoint))
      return owned
    },
    Effect.catchTags({
      StorageError: unavailable,
      // The account and the key of an owner are active.
      account_suspended: () => unauthorized,
      key_expired: () => unauthorized
    })
  )
})

/** The account or the operator whose part of the bodies a session uses. */
const ownerOf = (owned: SessionOwner.Owned): string =>
  owned.owner._tag === "Operator" ? owned.owner.actor : owned.owner.caller.account.id

const isPermitted = (
  access: RequestPolicy.ConsoleAccess,
  grant: Session.Grant,
  view: SessionOwner.OwnedView | undefined
): boolean => {
  switch (access) {
    case "any":
      return true
    case "key":
      return grant.scope !== "operator" || view !== undefined
    case "viewer":
      return grant.scope === "account" || view !== undefined
    case "operator":
      return grant.scope === "operator"
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
