import { Secret, Signature, Webhook } from "@kinora/webhook-signing"

/** What the shop tells of. */
export type OrderEvent =
  | Webhook.Event<"order.paid", { readonly order: string; readonly cents: number }>
  | Webhook.Event<"order.sent", { readonly order: string; readonly parcel: string }>

/** The shop gives every endpoint a secret, shows it once, and keeps a signer of it. */
export const issue = async () => {
  const secret = Secret.generate()
  return { secret, signer: await Signature.makeSigner(secret) }
}

/** The shop sends. While a new secret takes over from an old one both sign, the new one first. */
export const send = async (url: string, event: OrderEvent, signers: ReadonlyArray<Signature.Signer>) => {
  const body = new TextEncoder().encode(JSON.stringify(event))
  const timestamp = Math.floor(Date.now() / 1000)
  const signatures = await Promise.all(signers.map(({ sign }) => sign(timestamp, body)))
  const headers = { "Content-Type": "application/json", "X-Shop-Signature": Signature.format(timestamp, signatures) }
  return fetch(url, { method: "POST", body, headers })
}

/** A customer receives, with all secrets that may have signed, and answers before the work is done. */
export const receive = async (
  request: Request,
  secrets: ReadonlyArray<string | undefined>,
  inbox: { readonly keepOnce: (event: OrderEvent) => Promise<void>; readonly log: (line: string) => void }
): Promise<Response> => {
  try {
    const options = { secret: secrets, headerName: "X-Shop-Signature" }
    const { event, warnings } = await Webhook.receive<OrderEvent>(request, options)
    for (const { message } of warnings) inbox.log(message)
    await inbox.keepOnce(event)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof Webhook.VerificationError) inbox.log(`${error.reason}: ${error.message}`)
    return new Response(null, { status: Webhook.statusOf(error) })
  }
}
