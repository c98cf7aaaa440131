/** Events about parcels with `@kinora/webhooks`. */
import { Webhook } from "@kinora/webhook-signing"
import { createWebhooks } from "@kinora/webhooks/promise"
import type { OpenParcels, Receive } from "./Parcels.ts"

/** Creates or updates the tables, and sends events until `close`. */
export const openParcels: OpenParcels = async (pool) => {
  const webhooks = await createWebhooks({
    pool,
    keys: ["a key of at least thirty-two bytes"],
    // For receivers on this machine.
    guard: { allowPrivate: true }
  })
  await webhooks.deliver({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" })
  return {
    subscribe: async (customer, url) => (await webhooks.create({ account: customer, url })).secret,
    publish: ({ customer, id }, tx) =>
      webhooks.publish({ account: customer, type: "parcel.shipped", data: { parcel: id }, tx }),
    close: () => webhooks.close()
  }
}

/** Returns the id of the parcel of an event. */
export const receive: Receive = async (request, secret) => {
  const { event } = await Webhook.receive<Webhook.Event<"parcel.shipped", { readonly parcel: string }>>(request, {
    secret,
    headerName: "X-Parcels-Signature"
  })
  return event.data.parcel
}
