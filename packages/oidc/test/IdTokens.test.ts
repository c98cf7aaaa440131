import { assert, it } from "@effect/vitest"
import type { SignInAttempt } from "@kinora/sessions/IdentityProviders"
import { Effect, Redacted } from "effect"
import * as OidcProviders from "../src/OidcProviders.ts"
import * as ForgedTokens from "./ForgedTokens.ts"

const attempt: SignInAttempt = {
  redirectUri: "https://media.example.com/callback",
  state: "a-state",
  nonce: "a-nonce",
  verifier: "v".repeat(64)
}

const query = ForgedTokens.queryOf(attempt.state)

const providerOf = (issuer: string) =>
  OidcProviders.make({
    id: "team",
    name: "Team",
    issuer,
    client_id: "kinora",
    client_secret: Redacted.make("a secret"),
    groups: { admins: { operator: "owner" } },
    allow_http: true
  })

it.live("rejects ID tokens of another audience, issuer, sign-in, time or key", () =>
  Effect.gen(function*() {
    const server = yield* ForgedTokens.start("kinora", attempt.nonce)
    const { complete } = yield* providerOf(server.issuer)
    server.tokenWith({})
    assert.strictEqual((yield* complete(attempt, query)).subject, "1815")
    for (
      const claims of [
        { aud: "another" },
        { aud: ["kinora", "another"], azp: "another" },
        { iss: "https://another.example.com" },
        { nonce: "another" },
        { nonce: undefined },
        { exp: 1_700_000_000 },
        { iat: undefined },
        { sub: undefined }
      ]
    ) {
      server.tokenWith(claims)
      const error = yield* Effect.flip(complete(attempt, query))
      assert.strictEqual(error._tag, "SignInRejected", `${JSON.stringify(claims)}: ${error.message}`)
    }
    server.tokenWith({}, { isForged: true })
    assert.strictEqual((yield* Effect.flip(complete(attempt, query)))._tag, "SignInRejected")
  }).pipe(Effect.scoped))

it.live("rejects a response of another issuer if the provider names its issuer there", () =>
  Effect.gen(function*() {
    const server = yield* ForgedTokens.start("kinora", attempt.nonce, {
      authorization_response_iss_parameter_supported: true
    })
    const { complete } = yield* providerOf(server.issuer)
    server.tokenWith({})
    for (const iss of ["", "&iss=https%3A%2F%2Fanother.example.com"]) {
      assert.strictEqual((yield* Effect.flip(complete(attempt, query + iss)))._tag, "SignInRejected")
    }
    yield* complete(attempt, `${query}&iss=${encodeURIComponent(server.issuer)}`)
  }).pipe(Effect.scoped))

it.live("takes an address as verified only from the source that has verified it", () =>
  Effect.gen(function*() {
    const server = yield* ForgedTokens.start("kinora", attempt.nonce)
    const { complete } = yield* providerOf(server.issuer)
    const emailWith = (claims: ForgedTokens.Change, userInfo?: object) => {
      server.tokenWith(claims, { userInfo: { sub: "1815", ...userInfo } })
      return Effect.map(complete(attempt, query), ({ email, isEmailVerified }) => [email, isEmailVerified])
    }
    const ada = { email: "ada@example.com" }
    assert.deepStrictEqual(yield* emailWith({ ...ada, email_verified: true }), ["ada@example.com", true])
    assert.deepStrictEqual(yield* emailWith({ ...ada, email_verified: "true" }), ["ada@example.com", true])
    assert.deepStrictEqual(yield* emailWith({ ...ada, email_verified: false }), ["ada@example.com", false])
    assert.deepStrictEqual(yield* emailWith({ ...ada, email_verified: 1 }), ["ada@example.com", false])
    assert.deepStrictEqual(yield* emailWith(ada), ["ada@example.com", false])
    assert.deepStrictEqual(yield* emailWith(ada, { email: "eve@example.com", email_verified: true }), [
      "eve@example.com",
      true
    ])
    // The verified claim of one source is not combined with the address of the other one.
    assert.deepStrictEqual(yield* emailWith(ada, { email_verified: true }), ["ada@example.com", false])
    assert.deepStrictEqual(yield* emailWith({ email_verified: true }, ada), ["ada@example.com", false])
    assert.deepStrictEqual(yield* emailWith({ email: "" }), [undefined, false])
  }).pipe(Effect.scoped))

it.live("reads groups that are a list of texts or one text", () =>
  Effect.gen(function*() {
    const server = yield* ForgedTokens.start("kinora", attempt.nonce)
    const { complete } = yield* providerOf(server.issuer)
    const groupsWith = (groups: unknown) => {
      server.tokenWith({ groups, email: "ada@example.com", email_verified: true })
      return Effect.map(complete(attempt, query), (person) => person.groups)
    }
    assert.deepStrictEqual(yield* groupsWith(["admins", 1, null, "makers"]), ["admins", "makers"])
    assert.deepStrictEqual(yield* groupsWith("admins"), ["admins"])
    assert.deepStrictEqual(yield* groupsWith({ admins: true }), [])
  }).pipe(Effect.scoped))
