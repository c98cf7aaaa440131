/** Parcels. */
import { DatabaseError } from "pg"
import { accountOf, Refusal, respond, textsOf } from "../../requests.ts"
import { service, transaction } from "../../service.ts"

/** Ships a parcel. The parcel and its event are committed together, or neither is. */
export const POST = (request: Request): Promise<Response> =>
  respond(async () => {
    const account = accountOf(request)
    const { country, id } = await textsOf(request, "id", "country")
    const { pool, webhooks } = await service()
    try {
      await transaction(pool, async (tx) => {
        await webhooks.publish({ account, type: "parcel.shipped", data: { parcel: id }, tx })
        await tx.query("INSERT INTO parcel VALUES ($1, $2, $3)", [id, account, country])
      })
    } catch (error) {
      throw refusalOf(error) ?? error
    }
    // Sends now and not with the next poll, a second later.
    await webhooks.wake()
    return Response.json({ id, country }, { status: 201 })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refusalOf = (error: unknown): Refusal | undefined => {
  if (!(error instanceof DatabaseError)) return undefined
  if (error.constraint === "parcel_pkey") return new Refusal(409, "The parcel was shipped before")
  if (error.constraint === "parcel_country_fkey") return new Refusal(422, "The service does not ship there")
  return undefined
}
