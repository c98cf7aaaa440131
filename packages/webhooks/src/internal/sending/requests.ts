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

/** Makes requests that are signed at `at`, with every secret that signs now (D47). A secret that cannot be opened is a defect. */
export const make = Effect.fnUntraced(function*({ headerPrefix, makeSigner, userAgent }: RequestOptions) {
  const box = yield* SecretBox
  // By sealed text, which is of one endpoint alone, and another one after each rotation.
  const signers = new Map<string, Signature.Signer>()

  const signerOf = Effect.fnUntraced(function*({ endpoint }: Claimed, sealed: string) {
    const known = signers.get(sealed)
    if (known !== undefined) return known
    const secret = yield* box.open(endpoint.id, sealed)
    const signer = yield* Effect.promise(async () => makeSigner(Redacted.value(secret)))
    if (signers.size >= signersMax) signers.delete(signers.keys().next().value!)
    signers.set(sealed, signer)
    return signer
  })

  return Effect.fnUntraced(function*(claimed: Sendable, at: DateTime.Utc) {
    const timestamp = Math.floor(at.epochMilliseconds / 1000)
    const signatures = yield* Effect.forEach(
      claimed.secrets,
      ({ sealed }) =>
        Effect.flatMap(
          signerOf(claimed, sealed),
          (signer) => Effect.promise(() => signer.sign(timestamp, claimed.body))
        )
    )
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
