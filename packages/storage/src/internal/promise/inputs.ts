/** The input that calls of the promise API expect. The rules of the service check the values. */

/** The types of the fields of commands, by call. */
export const inputs = {
  put: "string",
  get: "string",
  head: "string",
  delete: ["string"]
} as const
