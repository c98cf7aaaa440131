/** Webhooks as those see them who receive them: Stripe's SDK, unmodified, and our own package. */
import { Webhook as Ours } from "@kinora/webhook-signing"
import { Stripe } from "stripe"

/** What arrived, and the secret of whoever looks at it. */
export interface Webhook {
  /** The raw bytes. */
  readonly body: Uint8Array
  /** `X-Service-Signature`. */
  readonly header: string | null
  readonly secret: string
  /** When it is looked at. */
  readonly at: Date
}

/** What Stripe's SDK says against it; `null`: it is good. */
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

/** What our own package says against it; `null`: it is good. */
export const byUs = async ({ at, body, header, secret }: Webhook): Promise<string | null> => {
  try {
    const headers = header === null ? {} : { "x-service-signature": header }
    const { event } = await Ours.verify({ body, headers, secret, nowMillis: at.getTime() })
    return sameAs(event, body)
  } catch (error) {
    return String(error)
  }
}

/** How many of the secrets must hold. */
export type Quorum = "all" | "any"

/** What either says against it, in sentences, by the secrets that must hold. Without a secret nothing is good. */
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

/** What is read out of a body is what is in it. */
const sameAs = (event: unknown, body: Uint8Array): string | null =>
  JSON.stringify(event) === JSON.stringify(JSON.parse(new TextDecoder().decode(body))) ? null : "another event"
