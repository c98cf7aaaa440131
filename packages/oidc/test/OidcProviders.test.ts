import { assert, it } from "@effect/vitest"
import type { IdentityProvider, SignInAttempt } from "@kinora/sessions/IdentityProviders"
import * as OidcServer from "@kinora/testkit/upstreams/OidcServer"
import { Duration, Effect, Redacted } from "effect"
import type { OidcProvider } from "../src/OidcOptions.ts"
import * as OidcProviders from "../src/OidcProviders.ts"
import * as Browser from "./Browser.ts"

const redirectUri = "https://media.example.com/console/v1/sign-in/oidc/team/callback"

const client = { clientId: "kinora", clientSecret: "the secret of the client", redirectUris: [redirectUri] }

const optionsOf = (issuer: string, more: Partial<OidcProvider> = {}): OidcProvider => ({
  id: "team",
  name: "Team",
  issuer,
  client_id: client.clientId,
  client_secret: Redacted.make(client.clientSecret),
  allow_http: true,
  ...more
})

const attemptOf = (name: string): SignInAttempt => ({
  redirectUri,
  state: `state of ${name}`,
  nonce: `nonce of ${name}`,
  verifier: name.padEnd(64, "v")
})

/** Signs in, and returns the query with which the browser comes back. */
const signIn = Effect.fnUntraced(function*(provider: IdentityProvider, attempt: SignInAttempt) {
  const returned = yield* Browser.make().visit(yield* provider.begin(attempt))
  assert.strictEqual(returned.origin + returned.pathname, redirectUri)
  return returned.search
})

const ada = { sub: "1815", email: "ada@example.com", email_verified: true }

it.live("authenticates a person with the claims of the user info endpoint, once", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([client])
    const provider = yield* OidcProviders.make(optionsOf(server.issuer))
    server.behave(ada)
    const attempt = attemptOf("one")
    const query = yield* signIn(provider, attempt)
    assert.deepStrictEqual(yield* provider.complete(attempt, query), {
      issuer: server.issuer,
      subject: "1815",
      email: "ada@example.com",
      isEmailVerified: true,
      groups: []
    })
    const replayed = yield* Effect.flip(provider.complete(attempt, query))
    assert.deepInclude(replayed, { _tag: "SignInRejected", reason: "rejected", problem: "invalid_grant" })
  }).pipe(Effect.scoped))

it.live("sends the secret of the client in the body if the client is registered so", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([{ ...client, authentication: "client_secret_post" }])
    server.behave(ada)
    const post = yield* OidcProviders.make(optionsOf(server.issuer, { client_authentication: "post" }))
    assert.strictEqual((yield* post.complete(attemptOf("one"), yield* signIn(post, attemptOf("one")))).subject, "1815")
    const wrong = yield* OidcProviders.make(optionsOf(server.issuer, { client_secret: Redacted.make("another") }))
    const query = yield* signIn(wrong, attemptOf("two"))
    const refused = yield* Effect.flip(wrong.complete(attemptOf("two"), query))
    assert.deepInclude(refused, { _tag: "ProviderUnavailable", problem: "OAUTH_WWW_AUTHENTICATE_CHALLENGE" })
  }).pipe(Effect.scoped))

it.live("returns the groups of a person, and the rules of the options", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([client])
    const provider = yield* OidcProviders.make(optionsOf(server.issuer, {
      scopes: ["openid", "groups"],
      groups: { admins: { operator: "support" }, makers: { account: "ada@example.com" } }
    }))
    assert.deepStrictEqual(provider.rules, [
      { group: "admins", operator: "support" },
      { group: "makers", account: "ada@example.com", role: "member" }
    ])
    server.behave({ sub: "1815", groups: ["makers", "others"] })
    const attempt = attemptOf("one")
    assert.deepStrictEqual(yield* provider.complete(attempt, yield* signIn(provider, attempt)), {
      issuer: server.issuer,
      subject: "1815",
      email: undefined,
      isEmailVerified: false,
      groups: ["makers", "others"]
    })
  }).pipe(Effect.scoped))

it.live("rejects a response with another state, to another verifier, or without a code", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([client])
    const provider = yield* OidcProviders.make(optionsOf(server.issuer))
    server.behave(ada)
    const attempt = attemptOf("one")
    for (
      const other of [
        { ...attempt, state: "another" },
        { ...attempt, verifier: "w".repeat(64) },
        { ...attempt, nonce: "another" }
      ]
    ) {
      const rejected = yield* Effect.flip(provider.complete(other, yield* signIn(provider, attempt)))
      assert.deepInclude(rejected, { _tag: "SignInRejected", reason: "rejected" })
    }
    for (const query of ["", "?code=x", "?state=state%20of%20one", "?code=a&code=b&state=state%20of%20one"]) {
      const rejected = yield* Effect.flip(provider.complete(attempt, query))
      assert.deepInclude(rejected, { _tag: "SignInRejected", reason: "rejected" }, query)
    }
  }).pipe(Effect.scoped))

it.live("reports that the person has refused", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([client])
    const provider = yield* OidcProviders.make(optionsOf(server.issuer))
    const attempt = attemptOf("one")
    server.behave("refuse")
    const denied = yield* Effect.flip(provider.complete(attempt, yield* signIn(provider, attempt)))
    assert.deepInclude(denied, { _tag: "SignInRejected", reason: "denied", problem: "access_denied" })
  }).pipe(Effect.scoped))

it.live("reports a provider that does not respond or is another one, and finds it later", () =>
  Effect.gen(function*() {
    const { issuer } = yield* Effect.scoped(OidcServer.start([client]))
    const provider = yield* OidcProviders.make(optionsOf(issuer))
    assert.deepInclude(yield* Effect.flip(provider.begin(attemptOf("one"))), {
      _tag: "ProviderUnavailable",
      problem: "ECONNREFUSED"
    })
    const server = yield* OidcServer.start([client])
    const other = yield* OidcProviders.make(optionsOf(`${server.issuer}/another`))
    assert.strictEqual((yield* Effect.flip(other.begin(attemptOf("one"))))._tag, "ProviderUnavailable")
    const insecure = yield* OidcProviders.make(optionsOf(server.issuer, { allow_http: false }))
    assert.strictEqual((yield* Effect.flip(insecure.begin(attemptOf("one"))))._tag, "ProviderUnavailable")
  }).pipe(Effect.scoped))

it.live("ends a sign-in whose provider is slow", () =>
  Effect.gen(function*() {
    const server = yield* OidcServer.start([client])
    const provider = yield* OidcProviders.make(optionsOf(server.issuer, { timeout: Duration.seconds(1) }))
    server.behave(ada)
    const attempt = attemptOf("one")
    const query = yield* signIn(provider, attempt)
    server.hangAt("/token")
    assert.strictEqual((yield* Effect.flip(provider.complete(attempt, query)))._tag, "ProviderUnavailable")
  }).pipe(Effect.scoped))
