import { Secret, Signature, Webhook } from "@kinora/webhook-signing"

/** The events of the shop. */
export type OrderEvent =
  | Webhook.Event<"order.paid", { readonly order: string; readonly cents: number }>
  | Webhook.Event<"order.sent", { readonly order: string; readonly parcel: string }>

/** Issues a secret for an endpoint, and a signer to reuse. */
export const issue = async () => {
  const secret = Secret.generate()
  return { secret, signer: await Signature.makeSigner(secret) }
}

/** Sends an event. During a rotation both secrets sign, the new one first. */
export const send = async (url: string, event: OrderEvent, signers: ReadonlyArray<Signature.Signer>) => {
  const body = new TextEncoder().encode(JSON.stringify(event))
  const timestamp = Math.floor(Date.now() / 1000)
  const signatures = await Promise.all(signers.map(({ sign }) => sign(timestamp, body)))
  const headers = { "Content-Type": "application/json", "X-Shop-Signature": Signature.format(timestamp, signatures) }
  return fetch(url, { method: "POST", body, headers })
}

/** Receives an event on the customer's side, with all active secrets. Responds before the event is processed. */
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
