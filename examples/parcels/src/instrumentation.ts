/** Next calls `register` once when a server starts. */

/** Starts the sender of webhooks in this process. */
export const register = async (): Promise<void> => {
  // Next compiles this file for its edge runtime too, which has no sockets.
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return
  const { service } = await import("./service.ts")
  const { webhooks } = await service()
  await webhooks.deliver({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" })
}
