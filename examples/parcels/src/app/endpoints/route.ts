/** Where accounts want to receive events. */
import { AddressRefusedError, TooManyEndpointsError } from "@kinora/webhooks/promise"
import { accountOf, Refusal, respond, textsOf } from "../../requests.ts"
import { service } from "../../service.ts"

/** Creates an endpoint. Only this response has its secret. */
export const POST = (request: Request): Promise<Response> =>
  respond(async () => {
    const account = accountOf(request)
    const { url } = await textsOf(request, "url")
    const { webhooks } = await service()
    try {
      const { endpoint, secret } = await webhooks.create({ account, url, types: ["parcel.shipped"] })
      return Response.json({ id: endpoint.id, secret }, { status: 201 })
    } catch (error) {
      if (error instanceof AddressRefusedError || error instanceof TooManyEndpointsError) {
        throw new Refusal(400, error.message)
      }
      throw error
    }
  })
