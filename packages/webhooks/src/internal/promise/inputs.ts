/** The input that calls of the promise API expect. The rules of the service check the values. */

const endpoint = { account: "string", endpoint: "string" } as const

const event = { account: "string", type: "string" } as const

/** The types of the fields of commands, by call. */
export const inputs = {
  create: { account: "string", url: "string", types: "array?" },
  list: { account: "string" },
  get: endpoint,
  update: { ...endpoint, url: "string?", types: "array?" },
  rotate: { ...endpoint, overlap: "duration?" },
  remove: endpoint,
  forget: { account: "string", limit: "number?" },
  publish: event,
  publishAll: [event],
  test: endpoint,
  resend: { account: "string", delivery: "string" },
  resendFailed: { ...endpoint, since: "Date" },
  event: { ...endpoint, delivery: "string" },
  deliveries: { ...endpoint, before: "string?", limit: "number?" },
  sends: endpoint,
  history: { account: "string", subject: "string" },
  reseal: { limit: "number" },
  disableFailing: { limit: "number" }
} as const
