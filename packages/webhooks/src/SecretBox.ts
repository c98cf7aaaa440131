/** Seals the secrets of endpoints, so that who reads the database cannot sign (AES-256-GCM). */
import { Context, type Effect, type Redacted } from "effect"
import type { EndpointId } from "./Endpoint.ts"

/** Seals and opens secrets. */
export class SecretBox extends Context.Service<SecretBox, {
  /** What every text begins with that the first key sealed. */
  readonly prefix: string
  /** Seals with the first key, for this endpoint alone: another's sealed text cannot be put in its place. */
  readonly seal: (endpoint: EndpointId, secret: Redacted.Redacted) => Effect.Effect<string>
  /** Opens what one of the keys sealed. A text that none opens is a defect: a key is missing, or somebody changed the row. */
  readonly open: (endpoint: EndpointId, sealed: string) => Effect.Effect<Redacted.Redacted>
}>()("@kinora/webhooks/SecretBox") {}

/** What a box is told. */
export interface SecretBoxOptions {
  /**
   * The first seals, all open. To rotate: put the new key first; `Webhooks.reseal`
   * seals what there is anew, and when it finds nothing more the old one can go. Each
   * has at least 32 bytes of UTF-8; a shorter one is a mistake of the host, and a defect.
   */
  readonly keys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}
