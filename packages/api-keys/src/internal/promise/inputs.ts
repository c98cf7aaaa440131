/** The input that calls of the promise API expect. The rules of the service check the values. */

const key = { owner: "string", id: "string" } as const

/** The types of the fields of commands, by call. */
export const inputs = {
  create: {
    owner: "string",
    name: "string",
    expiresAt: "Date?",
    scopes: "array?",
    networks: "array?",
    metadata: "object?"
  },
  verify: { key: "string", address: "string?" },
  roll: { ...key, overlap: "duration" },
  rename: { ...key, name: "string" },
  list: { owner: "string" },
  get: key,
  revoke: key,
  revokeAll: { owner: "string" },
  forget: { owner: "string" }
} as const
