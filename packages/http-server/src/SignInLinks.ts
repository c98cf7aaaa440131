/** Links with which people sign in to the console. */
import { Effect, Redacted } from "effect"
import { Digest } from "effect/crypto"

/** Returns the link with a code. Browsers do not send the fragment, so that no log of a server or a proxy contains it. */
export const linkOf = (origin: string, code: Redacted.Redacted): string =>
  `${origin}/console/#code=${Redacted.value(code)}`

/**
 * Returns the id, in sessions, of the operator that `KINORA_ADMIN_TOKEN` authenticates. It depends on the token, so that
 * sessions end with it.
 */
export const ownerOf = Effect.fnUntraced(function*(adminToken: Redacted.Redacted) {
  const { digestHex } = yield* Digest.Digest
  const hash = yield* digestHex(Digest.sha256, new TextEncoder().encode(`session:${Redacted.value(adminToken)}`))
  return `owner:${hash.slice(0, 16)}`
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
