/** Verifies webhooks with Stripe's SDK and with `@kinora/webhook-signing`. */
import { Webhook as Ours } from "@kinora/webhook-signing"
import { Stripe } from "stripe"

/** A received webhook and the secret to verify it. */
export interface Webhook {
  /** The raw bytes. */
  readonly body: Uint8Array
  /** `X-Service-Signature`. */
  readonly header: string | null
  readonly secret: string
  /** Time of the verification. */
  readonly at: Date
}

/** Error of Stripe's SDK, or `null` if the webhook is valid. */
export const byStripe = ({ at, body, header, secret }: Webhook): string | null => {
  try {
    const event: unknown = Stripe.webhooks.constructEvent(
      Buffer.from(body),
      header ?? "",
      secret,
      undefined,
      undefined,
      at.getTime()
    )
    return sameAs(event, body)
  } catch (error) {
    return String(error)
  }
}

/** Error of our package, or `null` if the webhook is valid. */
export const byUs = async ({ at, body, header, secret }: Webhook): Promise<string | null> => {
  try {
    const headers = header === null ? {} : { "x-service-signature": header }
    const { event } = await Ours.verify({ body, headers, secret, nowMillis: at.getTime() })
    return sameAs(event, body)
  } catch (error) {
    return String(error)
  }
}

/** How many of the secrets must verify. */
export type Quorum = "all" | "any"

/**
 * Returns why Stripe's SDK and our package reject a webhook, as sentences, for the secrets that must verify it. Without a
 * secret, no webhook is valid.
 */
export const problemsOf = async (
  webhook: Omit<Webhook, "secret">,
  secrets: ReadonlyArray<string>,
  quorum: Quorum = "all"
): Promise<ReadonlyArray<string>> => {
  if (secrets.length === 0) return ["A webhook arrived before its receiver knew a secret"]
  const found = await Promise.all(secrets.map(async (secret) => {
    const problems = [
      ["Stripe's SDK", byStripe({ ...webhook, secret })],
      ["Our package", await byUs({ ...webhook, secret })]
    ]
    return problems.flatMap(([who, problem]) => problem === null ? [] : [`${who}: ${problem}`])
  }))
  return quorum === "any" && found.some((problems) => problems.length === 0) ? [] : found.flat()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The parsed event must be the whole body. */
const sameAs = (event: unknown, body: Uint8Array): string | null =>
  JSON.stringify(event) === JSON.stringify(JSON.parse(new TextDecoder().decode(body))) ? null : "another event"
