/** The signed request of a send. */
import { type DateTime, Effect, Redacted } from "effect"
import type { Claimed } from "../../Delivery.ts"
import { SecretBox } from "../../SecretBox.ts"
import type { TransportRequest } from "../../Transport.ts"
import type { Sendable } from "./Claims.ts"
import * as Signatures from "./Signatures.ts"

/** Options for signatures and headers. */
export interface RequestOptions extends Signatures.SignatureOptions {
  readonly userAgent: string
}

/**
 * Creates a function that signs a request at `at` with every active secret. An older secret
 * that cannot be opened is skipped, so that a lost key does not stop an endpoint whose secret
 * was rotated since. If the newest one cannot be opened, the function dies.
 */
export const make = Effect.fnUntraced(function*(options: RequestOptions) {
  const { headerPrefix, userAgent } = options
  const box = yield* SecretBox
  // By sealed text, which is unique per endpoint and rotation. `undefined`: the text cannot be opened.
  const signers = new Map<string, Signatures.SecretSigners | undefined>()

  const open = ({ endpoint }: Claimed, sealed: string) =>
    Effect.flatMap(
      box.open(endpoint.id, sealed),
      (secret) => Effect.promise(() => Signatures.makeSigners(options, Redacted.value(secret)))
    )

  const signerOf = Effect.fnUntraced(function*(claimed: Claimed, sealed: string, isNewest: boolean) {
    const known = signers.get(sealed)
    if (known !== undefined || (!isNewest && signers.has(sealed))) return known
    const signer = yield* isNewest ? open(claimed, sealed) : open(claimed, sealed).pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("Failed to open an older webhook secret, sending without it", cause), undefined)
      )
    )
    if (signers.size >= signersMax) signers.delete(signers.keys().next().value!)
    signers.set(sealed, signer)
    return signer
  })

  return Effect.fnUntraced(function*(claimed: Sendable, at: DateTime.Utc) {
    const timestamp = Math.floor(at.epochMilliseconds / 1000)
    const secrets: Array<Signatures.SecretSigners> = []
    for (const [place, { sealed }] of claimed.secrets.entries()) {
      const signer = yield* signerOf(claimed, sealed, place === 0)
      if (signer !== undefined) secrets.push(signer)
    }
    const message = { id: claimed.delivery, timestamp, body: claimed.body }
    return {
      url: claimed.endpoint.url,
      headers: {
        "Content-Type": "application/json",
        "User-Agent": userAgent,
        [`${headerPrefix}Event`]: claimed.event.type,
        [`${headerPrefix}Delivery`]: claimed.delivery,
        ...yield* Effect.promise(() => Signatures.headersOf(options, secrets, message))
      },
      body: claimed.body
    } satisfies TransportRequest
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Imported keys in memory. The oldest is evicted first. */
const signersMax = 4096
