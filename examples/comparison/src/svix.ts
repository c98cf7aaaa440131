/** Events about parcels with the client of Svix. */
import { Svix, Webhook } from "svix"
import type { OpenParcels, Receive } from "./Parcels.ts"

/** Returns the function that opens the events of a server of Svix. */
export const parcelsOn = (serverUrl: string, token: string): OpenParcels => async () => {
  const svix = new Svix(token, { serverUrl })
  return {
    subscribe: async (customer, url) => {
      await svix.application.getOrCreate({ uid: customer, name: customer })
      const { id } = await svix.endpoint.create(customer, { url })
      const { key } = await svix.endpoint.getSecret(customer, id)
      return key
    },
    // A request, which cannot take part in a transaction.
    publish: ({ customer, id }) =>
      svix.message.create(customer, { eventType: "parcel.shipped", payload: { parcel: id } }),
    close: async () => {}
  }
}

/** Returns the id of the parcel of an event. */
export const receive: Receive = async (request, secret) => {
  const body = await request.text()
  new Webhook(secret).verify(body, Object.fromEntries(request.headers))
  return JSON.parse(body).parcel
}
