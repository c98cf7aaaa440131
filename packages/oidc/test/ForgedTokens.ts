/** A provider whose ID tokens a test chooses. It skips the page of the provider: a test makes the query of the browser. */
import { json, listen } from "@kinora/testkit/upstreams/Listener"
import { Effect } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"

/** Claims of an ID token that replace those of a valid one. `undefined`: the token does not have it. */
export type Change = Readonly<Record<string, unknown>>

/** The query of a browser that comes back with a code. */
export const queryOf = (state: string): string => `?code=a-code&state=${encodeURIComponent(state)}`

/** Starts the provider. `tokenWith` sets the claims of the next tokens, and whether its published key signs them. */
export const start = Effect.fnUntraced(function*(clientId: string, nonce: string, moreMetadata: object = {}) {
  const [published, other] = yield* Effect.promise(() =>
    Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")])
  )
  const jwk = yield* Effect.promise(() => exportJWK(published.publicKey))
  let change: Change = {}
  let isForged = false
  let userInfo: object = {}

  const { origin } = yield* listen(({ headers, path }, response) => {
    const issuer = `http://${headers.host}`
    switch (path.split("?", 1)[0]) {
      case "/.well-known/openid-configuration":
        return json(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/me`,
          response_types_supported: ["code"],
          ...moreMetadata
        })
      case "/jwks":
        return json(response, 200, { keys: [{ ...jwk, kid: "published", use: "sig", alg: "RS256" }] })
      case "/me":
        return json(response, 200, userInfo)
      default: {
        const now = Math.floor(Date.now() / 1000)
        const claims = { iss: issuer, sub: "1815", aud: clientId, nonce, iat: now, exp: now + 300, ...change }
        const signing = isForged ? other : published
        void new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "published" }).sign(signing.privateKey)
          .then((id_token) => json(response, 200, { access_token: "a-token", token_type: "bearer", id_token }))
      }
    }
  })

  return {
    issuer: origin,
    tokenWith: (next: Change, options: { readonly isForged?: boolean; readonly userInfo?: object } = {}) => {
      change = next
      isForged = options.isForged ?? false
      userInfo = options.userInfo ?? { sub: "1815" }
    }
  }
})
