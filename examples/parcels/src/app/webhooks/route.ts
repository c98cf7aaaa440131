/** The receiver, which would be in the service of a customer. */
import { Webhook } from "@kinora/webhook-signing"
import { service } from "../../service.ts"

/** Stores an event once, also if it arrives several times. */
export const POST = async (request: Request): Promise<Response> => {
  try {
    const { event } = await Webhook.receive<ParcelShipped>(request, {
      secret: process.env["WEBHOOK_SECRET"],
      headerName: "X-Parcels-Signature"
    })
    const { pool } = await service()
    const insert = "INSERT INTO received VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
    await pool.query(insert, [event.id, event.type, event.data.parcel])
    return new Response(null, { status: 204 })
  } catch (error) {
    // 400 if the signature is wrong. Otherwise 500, and the event is sent again.
    return new Response(null, { status: Webhook.statusOf(error) })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type ParcelShipped = Webhook.Event<"parcel.shipped", { readonly parcel: string }>
