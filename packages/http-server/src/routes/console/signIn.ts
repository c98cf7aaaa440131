/** Sign-ins with identity providers. See docs/reference/console-api.md#identity-providers. */
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { IdentityProviders, type Session, Sessions } from "@kinora/sessions"
import type { IdentityProvider, Person } from "@kinora/sessions/IdentityProviders"
import { Data, Duration, Effect } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Cookies, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { currentRequest, type RequestState, untimed } from "../../middleware/currentRequest.ts"
import * as PendingSignIn from "../../middleware/pendingSignIn.ts"
import * as People from "../../middleware/people.ts"
import * as ProxyUser from "../../middleware/proxyUser.ts"
import { answers } from "../../middleware/refusals.ts"
import * as SessionCookie from "../../middleware/sessionCookie.ts"
import * as SignIns from "../../middleware/signIns.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(ConsoleApi, "signIn", function*(handlers) {
    const providers = yield* IdentityProviders.IdentityProviders
    const withCrypto = yield* makeWithCrypto
    const signIn = yield* makeSignIn(options)

    const find = (id: string) => {
      const provider = providers.find((provider) => provider.id === id)
      return provider === undefined ? refuse("not_found") : Effect.succeed(provider)
    }

    return handlers.handleAll({
      listSignInMethods: answers([], function*() {
        const state = yield* currentRequest
        return {
          providers: providers.map(({ id, name }) => ({ id, name, url: pathOf(id) })),
          proxy_user: ProxyUser.personOf(state, options)?.email ?? null
        }
      }),

      beginSignIn: answers([], function*({ params, query: { return_to } }) {
        const provider = yield* find(params.provider)
        const state = yield* currentRequest
        const pending = yield* withCrypto(PendingSignIn.begin(provider.id, PendingSignIn.pageOf(return_to)))
        const attempt = { ...pending.attempt, redirectUri: redirectUriOf(state, options, provider) }
        return yield* untimed(provider.begin(attempt)).pipe(
          Effect.map((url) => redirect(url, SessionCookie.setPending(state, options, pending.value, cookieSeconds))),
          Effect.catchTag("ProviderUnavailable", (error) =>
            Effect.as(
              Effect.logWarning(error.message),
              redirect(signInPage("provider_unavailable"), SessionCookie.removePending(state, options))
            ))
        )
      }),

      completeSignIn: answers([], function*({ params }) {
        const provider = yield* find(params.provider)
        const state = yield* currentRequest
        const removal = SessionCookie.removePending(state, options)
        const pending = yield* withCrypto(PendingSignIn.read(SessionCookie.pendingOf(state, options), provider.id))
        return yield* signIn(provider, state, pending).pipe(
          Effect.map(({ returnTo, session, token }) =>
            redirect(returnTo, removal, SessionCookie.set(state, options, token, session.expiresAt))
          ),
          Effect.catchTag("SignInFailed", ({ email, reason }) =>
            Effect.succeed(redirect(signInPage(reason, email), removal)))
        )
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Why a sign-in failed, for the sign-in page. */
type Reason =
  | "denied"
  | "email_not_verified"
  | "expired"
  | "no_account"
  | "provider_unavailable"
  | "rate_limited"
  | "rejected"
  | "unavailable"

class SignInFailed extends Data.TaggedError("SignInFailed")<{
  readonly reason: Reason
  readonly email?: string | undefined
}> {}

const cookieSeconds = Duration.toSeconds(PendingSignIn.ageMax)

const pathOf = (provider: string): string => `/console/v1/sign-in/oidc/${provider}`

/** The URL that is registered with the provider. */
const redirectUriOf = (state: RequestState, options: HttpServerOptions, { id }: IdentityProvider): string =>
  `${SessionCookie.originOf(state, options)}${pathOf(id)}/callback`

/** The sign-in page with the reason of a failure. Browsers do not send the fragment. */
const signInPage = (reason: Reason, email?: string): string => {
  const fragment = new URLSearchParams({ sign_in_error: reason, ...(email === undefined ? {} : { email }) })
  return `/console/#${fragment.toString()}`
}

/**
 * Leads the browser to another page. The first page after a sign-in is one of this server, which reads the session with a
 * request of its own, so that its cookie can be `SameSite=Strict` although the browser comes from another site.
 */
const redirect = (location: string, pendingCookie: string, sessionCookie?: string) =>
  HttpServerResponse.empty({
    status: 303,
    headers: {
      location,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      ...(sessionCookie === undefined ? {} : { "set-cookie": sessionCookie })
    },
    cookies: Cookies.fromSetCookie([pendingCookie])
  })

/** Makes the function that provides digests and random bytes, which handlers cannot require. */
const makeWithCrypto = Effect.gen(function*() {
  const digest = yield* Digest.Digest
  const random = yield* SecureRandom.SecureRandom
  return <A, E>(effect: Effect.Effect<A, E, Digest.Digest | SecureRandom.SecureRandom>) =>
    effect.pipe(
      Effect.provideService(Digest.Digest, digest),
      Effect.provideService(SecureRandom.SecureRandom, random)
    )
})

/** Makes the function that starts the session of a person who comes back from a provider. */
const makeSignIn = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { start } = yield* Sessions.Sessions
  const { failed, started } = yield* SignIns.make(options)
  const findMember = yield* People.makeFindMember
  const hasOperators = options.adminToken !== undefined && options.operatorRoutes

  const grantOf = Effect.fnUntraced(function*({ id, rules }: IdentityProvider, person: Person) {
    const role = hasOperators ? People.operatorRoleOf(rules, person.groups) : undefined
    if (role === undefined) return People.grantOf(yield* findMember(person, rules))
    const grant: Session.Grant = { scope: "operator", operator: People.operatorIdOf(id, person), role }
    return grant
  })

  return Effect.fnUntraced(
    function*(
      provider: IdentityProvider,
      state: RequestState,
      pending: PendingSignIn.PendingSignIn | undefined
    ) {
      const by = { by: `oidc:${provider.id}` }
      const fail = (reason: Reason, details: SignIns.Details = by, person?: Person) =>
        Effect.andThen(failed(state, reason, details, person), new SignInFailed({ reason, email: person?.email }))

      const query = state.request.url.split("?").slice(1).join("?")
      if (pending === undefined || new URLSearchParams(query).get("state") !== pending.attempt.state) {
        return yield* fail("expired")
      }
      const attempt = { ...pending.attempt, redirectUri: redirectUriOf(state, options, provider) }
      const person = yield* untimed(provider.complete(attempt, query)).pipe(
        Effect.tapError((error) => Effect.logWarning(error.message)),
        Effect.catchTags({
          ProviderUnavailable: () => new SignInFailed({ reason: "provider_unavailable" }),
          SignInRejected: ({ problem, reason }) => fail(reason, { ...by, problem })
        })
      )
      const { issuer, subject } = person
      // Without the e-mail address: entries are kept after the account is erased.
      const details = { ...by, issuer, subject }
      const begun = yield* Effect.flatMap(
        grantOf(provider, person),
        (grant) => started(state, start(grant, SignIns.clientOf(state, options)), details)
      ).pipe(
        Effect.catchTags({
          NoAccount: ({ isUnverified }) => fail(isUnverified ? "email_not_verified" : "no_account", details, person),
          OwnerEnded: () => fail("no_account", details, person)
        })
      )
      return { ...begun, returnTo: pending.returnTo }
    },
    Effect.catchTags({
      rate_limited: () => new SignInFailed({ reason: "rate_limited" }),
      StorageError: (error) =>
        Effect.andThen(Effect.logWarning("Storage is unavailable", error), new SignInFailed({ reason: "unavailable" }))
    })
  )
})
