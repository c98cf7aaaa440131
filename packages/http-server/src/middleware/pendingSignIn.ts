/**
 * A sign-in that is in progress at an identity provider. See docs/reference/console-api.md#identity-providers.
 *
 * The server stores nothing: the value is in a cookie of the browser, and state, nonce and verifier are digests of it. So a
 * response of the provider fits only to the browser, the provider, the time and the page of the value.
 */
import { SessionToken } from "@kinora/sessions"
import type { SignInAttempt } from "@kinora/sessions/IdentityProviders"
import { DateTime, Duration, Effect, Redacted, Result } from "effect"
import { Digest } from "effect/crypto"
import { Base64Url } from "effect/encoding"

/** The sign-in of a value. */
export interface PendingSignIn {
  readonly provider: string
  /** The path of the page to open afterwards. */
  readonly returnTo: string
  readonly attempt: Omit<SignInAttempt, "redirectUri">
  /** The text of the cookie. */
  readonly value: string
}

/** How long the browser can stay at the provider. */
export const ageMax = Duration.minutes(10)

/** Begins a sign-in now. */
export const begin = Effect.fnUntraced(function*(provider: string, returnTo: string) {
  const now = yield* DateTime.now
  const secret = Redacted.value(yield* SessionToken.make)
  return yield* ofValue([secret, String(now.epochMilliseconds), provider, Base64Url.encode(returnTo)])
})

/** Returns the sign-in of the value of a cookie, unless the value is not one, is of another provider or too old. */
export const read = Effect.fnUntraced(function*(value: string | undefined, provider: string) {
  const [, secret, at, name, page] = valuePattern.exec(value ?? "") ?? []
  if (secret === undefined || at === undefined || name !== provider || page === undefined) return undefined
  const now = yield* DateTime.now
  if (now.epochMilliseconds - Number(at) >= Duration.toMillis(ageMax)) return undefined
  return yield* ofValue([secret, at, provider, page])
})

/**
 * Returns the path of a page of the console. Other texts lead to the first page: a link to the sign-in must not lead to
 * another server.
 */
export const pageOf = (returnTo: string | undefined): string =>
  returnTo !== undefined && returnTo.length <= pathCharsMax && pagePattern.test(returnTo) ? returnTo : "/console/"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of the path of a page, in characters. A browser stores 4,096 of a cookie. */
const pathCharsMax = 512

/** A path below `/console/` that is not of the API, without a fragment. */
const pagePattern = /^\/console\/(?!v1(?:[/?]|$))[\w\-.~!$&'()*+,;=:@%/]*(?:\?[\w\-.~!$&'()*+,;=:@%/?]*)?$/

const valuePattern = /^([0-9a-f]{64})\.(\d{1,15})\.([a-z0-9-]{1,32})\.([\w-]{1,1024})$/

type Parts = readonly [secret: string, at: string, provider: string, page: string]

const ofValue = Effect.fnUntraced(function*([secret, at, provider, page]: Parts) {
  const { digestHex } = yield* Digest.Digest
  const value = `${secret}.${at}.${provider}.${page}`
  const digestOf = (purpose: string) => digestHex(Digest.sha256, new TextEncoder().encode(`${purpose}:${value}`))
  const [state, nonce, verifier] = yield* Effect.all([digestOf("state"), digestOf("nonce"), digestOf("verifier")])
  const pending: PendingSignIn = {
    provider,
    returnTo: pageOf(Result.getOrUndefined(Base64Url.decodeString(page))),
    attempt: { state, nonce, verifier },
    value
  }
  return pending
})

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
