/**
 * Identity providers of `@kinora/sessions` over OpenID Connect: code flow with PKCE, state and nonce.
 *
 * The discovery document is read with the first sign-in, so a provider that does not respond stops neither a start nor other
 * providers. The library `openid-client` is loaded with it.
 */
import {
  type IdentityProvider,
  IdentityProviders,
  type Person,
  ProviderUnavailable,
  type SignInAttempt
} from "@kinora/sessions/IdentityProviders"
import { Cache, Duration, Effect, Exit, Layer, Redacted, Semaphore } from "effect"
import type * as Client from "openid-client"
import { personOf } from "./internal/claims.ts"
import { failureOf } from "./internal/failures.ts"
import { rulesOf } from "./internal/rules.ts"
import type { OidcOptions, OidcProvider } from "./OidcOptions.ts"

/** Provides the identity providers. */
export const layer = (options: OidcOptions): Layer.Layer<never> =>
  Layer.effect(IdentityProviders, Effect.forEach(options, make))

/** Makes an identity provider. */
export const make = Effect.fnUntraced(function*(options: OidcProvider) {
  const { id, name } = options
  const { discovered, inTime } = yield* makeDiscovery(options)
  const rules = rulesOf(options)

  const provider: IdentityProvider = {
    id,
    name,
    rules,

    begin: Effect.fn("IdentityProvider.begin")((attempt: SignInAttempt) =>
      inTime(Effect.flatMap(discovered, (found) => attemptTo(id, () => urlOf(found, options, attempt)))).pipe(
        Effect.catchTag("SignInRejected", ({ problem }) => new ProviderUnavailable({ provider: id, problem }))
      )
    ),

    complete: Effect.fn("IdentityProvider.complete")((attempt: SignInAttempt, query: string) =>
      inTime(Effect.flatMap(discovered, (found) => attemptTo(id, () => redeem(found, options, attempt, query))))
    )
  }
  return provider
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a discovery document is used, so that changed endpoints are found. */
const foundFor = Duration.hours(1)

/** How long a provider that does not respond is not asked again. */
const missingFor = Duration.seconds(5)

/** Concurrent sign-ins that wait for one provider. Further ones wait for them, within their time limit. */
const callsMax = 16

/** The library, and the discovered configuration of a provider. */
interface Discovered {
  readonly client: typeof Client
  readonly config: Client.Configuration
}

const timeoutOf = ({ timeout = Duration.seconds(10) }: OidcProvider) => timeout

/** Makes the effect that returns the provider as it was discovered last, and the function that limits the time of an effect. */
const makeDiscovery = Effect.fnUntraced(function*(options: OidcProvider) {
  const { id } = options
  const cache = yield* Cache.makeWith(
    // The first sign-in looks the provider up for all others, so its end must not end the look-up.
    (_: "provider") => Effect.uninterruptible(attemptTo(id, () => discover(options))),
    { capacity: 1, timeToLive: (exit) => Exit.isSuccess(exit) ? foundFor : missingFor }
  )
  const permits = Semaphore.makeUnsafe(callsMax)

  return {
    discovered: Cache.get(cache, "provider"),
    inTime: <A, E>(effect: Effect.Effect<A, E>) =>
      permits.withPermits(1)(effect).pipe(
        Effect.timeoutOrElse({
          duration: timeoutOf(options),
          orElse: () => new ProviderUnavailable({ provider: id, problem: "no response in time" })
        })
      )
  }
})

const attemptTo = <A>(provider: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => failureOf(provider, cause) })

const discover = async (options: OidcProvider): Promise<Discovered> => {
  const client = await import("openid-client")
  const { allow_http: allowHttp = false, client_id: clientId, issuer } = options
  const config = await client.discovery(
    new URL(issuer),
    clientId,
    {},
    authenticationOf(client, options),
    {
      timeout: Duration.toSeconds(timeoutOf(options)),
      execute: [client.enableNonRepudiationChecks, ...(allowHttp ? [client.allowInsecureRequests] : [])]
    }
  )
  return { client, config }
}

const authenticationOf = (
  client: typeof Client,
  { client_authentication: method = "basic", client_secret: secret }: OidcProvider
): Client.ClientAuth => {
  if (secret === undefined) return client.None()
  return method === "basic"
    ? client.ClientSecretBasic(Redacted.value(secret))
    : client.ClientSecretPost(Redacted.value(secret))
}

const urlOf = async (
  { client, config }: Discovered,
  { scopes = ["openid", "email", "profile"] }: OidcProvider,
  { nonce, redirectUri, state, verifier }: SignInAttempt
): Promise<string> =>
  client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256"
  }).href

/** Exchanges the code of the query for the tokens of the person, and verifies them. */
const redeem = async (
  { client, config }: Discovered,
  options: OidcProvider,
  { nonce, redirectUri, state, verifier }: SignInAttempt,
  query: string
): Promise<Person> => {
  const returned = new URL(redirectUri)
  returned.search = query
  const tokens = await client.authorizationCodeGrant(config, returned, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true
  })
  const { issuer, userinfo_endpoint: hasUserInfo } = config.serverMetadata()
  const claims = tokens.claims()
  if (claims === undefined) throw new client.ClientError("The provider returned no ID token")
  return personOf(
    issuer,
    claims,
    options,
    hasUserInfo === undefined
      ? undefined
      : () => client.fetchUserInfo(config, tokens.access_token, claims.sub)
  )
}
