/** The operations on API keys that the operator API and the API of the console have in common, without their paths. */
import { HttpApiSchema } from "effect/http-api"
import {
  AdminKey,
  AdminKeyList,
  AdminNewKey,
  CreateKeyRequest,
  RollKeyRequest,
  UpdateKeyRequest
} from "../AdminAccount.ts"
import { shownOnce } from "./shownOnce.ts"

const newKey = shownOnce(AdminNewKey.pipe(HttpApiSchema.status(201)))

/** The creation of a key. */
export const creation = {
  summary: "Create an API key",
  description: "Only this response contains the key; the service stores a digest.",
  schemas: { payload: CreateKeyRequest, success: newKey }
}

/** The change of a key. `limits` adds to the description. */
export const change = (limits = "") => ({
  summary: "Change an API key",
  description:
    "Changes the name and the given limits. Limits apply to the keys that the key replaced too, and on every " +
    `server within 5 seconds.${limits}`,
  schemas: { payload: UpdateKeyRequest, success: AdminKey }
})

/** The replacement of a key. */
export const roll = {
  summary: "Roll an API key",
  description:
    "Creates a key with the same name, restrictions and budget. The former key expires after `overlap_seconds`. Only this " +
    "response contains the new key.",
  schemas: { payload: RollKeyRequest, success: newKey }
}

/** The list of the keys of an account. */
export const listing = {
  description: "All keys in use, then the latest revoked ones; at most 200.",
  schemas: { success: AdminKeyList }
}
