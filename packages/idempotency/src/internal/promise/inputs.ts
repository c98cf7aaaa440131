/** The input that calls of the promise API expect. The rules of the service check the values. */

const request = { scope: "string", key: "string?", endpoint: "string?" } as const

const claim = { ...request, reference: "string", window: "duration?" } as const

/** The types of the fields of commands, by call. */
export const inputs = {
  once: claim,
  claim,
  claimAll: [claim],
  release: claim,
  extend: claim,
  find: request,
  begin: request,
  forget: { scope: "string", limit: "number?" }
} as const
