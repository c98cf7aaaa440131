/** The input that calls of the promise API expect. The rules of the service check the values. */

const hit = { key: "string", limit: "number", cost: "number?", window: "duration?", algorithm: "string?" } as const

const amount = { key: "string", limit: "number", amount: "number" } as const

/** The types of the fields of commands, by call. */
export const inputs = {
  hit,
  hitAll: [hit],
  peek: hit,
  acquire: { key: "string", max: "number" },
  acquireFor: { key: "string", max: "number", lasts: "duration" },
  held: { key: "string" },
  reserve: amount,
  reserveAll: [amount],
  settle: { reservation: "object", used: "number" },
  used: { key: "string" },
  forget: { key: "string", window: "duration?", algorithm: "string?", rowsMax: "number?" }
} as const
