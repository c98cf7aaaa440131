/** The input that calls of the promise API expect. The rules of the service check the values. */

/** The types of the fields of commands, by call. */
export const inputs = {
  charge: { account: "string", reference: "string", at: "Date?" },
  check: { account: "string", at: "Date?" },
  refund: { account: "string", reference: "string", at: "Date?" },
  grant: { account: "string", reference: "string", kind: "string", credits: "number", expiresAt: "Date", at: "Date?" },
  hold: { account: "string", reference: "string", credits: "number", at: "Date?" },
  capture: { account: "string", reference: "string", credits: "number?", at: "Date?" },
  release: { account: "string", reference: "string", at: "Date?" },
  revoke: { account: "string", lot: "string", at: "Date?" },
  forget: { account: "string", limit: "number?", at: "Date?" },
  balances: { account: "string", at: "Date?" },
  entries: { account: "string", reference: "string?", before: "string?", limit: "number?" },
  statement: { account: "string", from: "Date", to: "Date", after: "string?", limit: "number?" }
} as const
