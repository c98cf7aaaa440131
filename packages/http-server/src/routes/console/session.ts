/** Sign-in, the current session, and sign-out. */
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import type { SignInRequest } from "@kinora/http-api/ConsoleSession"
import { UnitOfWork } from "@kinora/persistence"
import { type Session, Sessions } from "@kinora/sessions"
import { Effect, Option, Redacted } from "effect"
import { HttpApiSchema } from "effect/http-api"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { makeCheckKey } from "../../middleware/authentication.ts"
import { currentRequest, type RequestState } from "../../middleware/currentRequest.ts"
import * as People from "../../middleware/people.ts"
import * as ProxyUser from "../../middleware/proxyUser.ts"
import { answers } from "../../middleware/refusals.ts"
import * as SessionCookie from "../../middleware/sessionCookie.ts"
import * as SessionOwner from "../../middleware/sessionOwner.ts"
import * as SignIns from "../../middleware/signIns.ts"
import { currentToWire } from "../../wire/session.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(ConsoleApi, "session", function*(handlers) {
    const sessions = yield* Sessions.Sessions
    const { find } = yield* SessionOwner.make(options)
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const signIn = yield* makeSignIn(options)
    const recordSignOut = yield* SignIns.makeRecordSignOut(options)

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
            if (Option.isSome(ended)) yield* recordSignOut(state, ended.value)
          }))
        }
        return HttpApiSchema.withHeaders({
          body: undefined,
          headers: { "set-cookie": SessionCookie.remove(state, options), "clear-site-data": "\"cache\"" as const }
        })
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalidCode = refuse("invalid_code")
const unauthorized = refuse("unauthorized", { message: "The API key is not valid; check it, or use another one." })
const noProxyUser = refuse("unauthorized", {
  message: "No proxy in front has authenticated you; sign in with a link or an API key."
})

/** Makes the function that starts the session of a code, of an API key, or of the person of the proxy. */
const makeSignIn = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { redeem } = yield* Sessions.Sessions
  const { failed, started } = yield* SignIns.make(options)
  const signInWithKey = yield* makeSignInWithKey(options)
  const signInWithProxy = yield* makeSignInWithProxy(options)

  const signInWithCode = Effect.fnUntraced(function*(code: Redacted.Redacted, state: RequestState) {
    const start = redeem(code, SignIns.clientOf(state, options))
    return yield* started(state, start, { by: "link" })
  }, (effect, _code, state) => {
    const reject = () => Effect.andThen(failed(state, "invalid_code", { by: "link" }), invalidCode)
    return Effect.catchTags(effect, { CodeRejected: reject, OwnerEnded: reject })
  })

  return (payload: SignInRequest, state: RequestState) => {
    if ("code" in payload) return signInWithCode(Redacted.make(payload.code), state)
    return "proxy" in payload ? signInWithProxy(state) : signInWithKey(Redacted.make(payload.api_key), state)
  }
})

const makeSignInWithKey = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { start } = yield* Sessions.Sessions
  const { failed, started } = yield* SignIns.make(options)
  const { checkKey } = yield* makeCheckKey(options)

  return Effect.fnUntraced(function*(key: Redacted.Redacted, state: RequestState) {
    const reject = Effect.andThen(failed(state, "unauthorized", { by: "key" }), unauthorized)
    // Signing in requires no scope.
    const caller = yield* Effect.catchTag(checkKey(key, state, undefined), "scope_missing", Effect.die)
    if (caller?.keyId === undefined) return yield* reject
    const { account, keyId, terms } = caller
    const grant: Session.Grant = { scope: "key", account: account.id, key: keyId }
    const client = { ...SignIns.clientOf(state, options), notAfter: Option.getOrUndefined(terms.expiresAt) }
    // The cache of keys can be some seconds old, so the owner can have ended.
    return yield* Effect.catchTag(started(state, start(grant, client), { by: "key" }), "OwnerEnded", () => reject)
  })
})

const makeSignInWithProxy = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { start } = yield* Sessions.Sessions
  const { failed, started } = yield* SignIns.make(options)
  const findMember = yield* People.makeFindMember

  return Effect.fnUntraced(function*(state: RequestState) {
    const person = ProxyUser.personOf(state, options)
    if (person === undefined) {
      yield* failed(state, "unauthorized", { by: "proxy" })
      return yield* noProxyUser
    }
    const { email } = person
    const begin = Effect.flatMap(
      findMember(person, []),
      (member) => started(state, start(People.grantOf(member), SignIns.clientOf(state, options)), { by: "proxy" })
    )
    const reject = () =>
      Effect.andThen(
        failed(state, "no_account", { by: "proxy" }, person),
        refuse("no_account", {
          message: `No account for ${email}. Ask your operator for access.`,
          details: { email }
        })
      )
    return yield* Effect.catchTags(begin, { NoAccount: reject, OwnerEnded: reject })
  })
})
