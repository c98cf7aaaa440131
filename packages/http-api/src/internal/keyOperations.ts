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

/** The change of the budget of a key. */
export const budgetChange = {
  summary: "Change the budget of an API key",
  description:
    "Changes the given limits. They apply to the keys that the key replaced too, and on every server within 5 seconds.",
  schemas: { payload: UpdateKeyRequest, success: AdminKey }
}

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
