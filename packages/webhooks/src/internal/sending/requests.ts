/** The request of a send: headers and signature as receivers are told. */
import { Signature } from "@kinora/webhook-signing"
import { type DateTime, Effect, Redacted } from "effect"
import type { Claimed } from "../../Delivery.ts"
import { SecretBox } from "../../SecretBox.ts"
import type { TransportRequest } from "../../Transport.ts"
import type { Sendable } from "./claiming.ts"

/** How requests look. */
export interface RequestOptions {
  readonly makeSigner: (secret: string) => Signature.Signer | Promise<Signature.Signer>
  readonly headerPrefix: string
  readonly userAgent: string
}

/**
 * Makes requests that are signed at `at`, with every secret that signs now (D47). An older
 * one that cannot be opened is left out, so that a lost key does not stop an endpoint
 * whose secret was rotated since; the newest one is a defect then.
 */
export const make = Effect.fnUntraced(function*({ headerPrefix, makeSigner, userAgent }: RequestOptions) {
  const box = yield* SecretBox
  // By sealed text, which is of one endpoint alone, and another one after each rotation. `undefined`: it cannot be opened.
  const signers = new Map<string, Signature.Signer | undefined>()

  const open = ({ endpoint }: Claimed, sealed: string) =>
    Effect.flatMap(
      box.open(endpoint.id, sealed),
      (secret) => Effect.promise(async () => makeSigner(Redacted.value(secret)))
    )

  const signerOf = Effect.fnUntraced(function*(claimed: Claimed, sealed: string, isNewest: boolean) {
    const known = signers.get(sealed)
    if (known !== undefined || (!isNewest && signers.has(sealed))) return known
    const signer = yield* isNewest ? open(claimed, sealed) : open(claimed, sealed).pipe(
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("An older secret cannot be opened; webhooks are sent without it", cause), undefined)
      )
    )
    if (signers.size >= signersMax) signers.delete(signers.keys().next().value!)
    signers.set(sealed, signer)
    return signer
  })

  return Effect.fnUntraced(function*(claimed: Sendable, at: DateTime.Utc) {
    const timestamp = Math.floor(at.epochMilliseconds / 1000)
    const signatures: Array<string> = []
    for (const [place, { sealed }] of claimed.secrets.entries()) {
      const signer = yield* signerOf(claimed, sealed, place === 0)
      if (signer !== undefined) signatures.push(yield* Effect.promise(() => signer.sign(timestamp, claimed.body)))
    }
    return {
      url: claimed.endpoint.url,
      headers: {
        "Content-Type": "application/json",
        "User-Agent": userAgent,
        [`${headerPrefix}Event`]: claimed.event.type,
        [`${headerPrefix}Delivery`]: claimed.delivery,
        [`${headerPrefix}Signature`]: Signature.format(timestamp, signatures)
      },
      body: claimed.body
    } satisfies TransportRequest
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Imported keys that are kept, oldest gone first. */
const signersMax = 4096
