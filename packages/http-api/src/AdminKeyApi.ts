/** The part of the operator API that is about API keys. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AdminKey,
  AdminKeyList,
  AdminNewKey,
  CreateKeyRequest,
  RollKeyRequest,
  UpdateKeyRequest
} from "./AdminAccount.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { parameter } from "./internal/fields.ts"
import { account, accountId } from "./internal/paths.ts"
import { shownOnce } from "./internal/shownOnce.ts"

const keyId = { ...accountId, key_id: parameter("The id of the key, `key_…`.") }

/** Creates, changes, rolls, lists and revokes API keys. */
export class AdminKeys extends HttpApiGroup.make("keys").add(
  configure(
    "operator",
    "Create an API key",
    "Only this response contains the key; the service stores a digest.",
    ["account_deleted", "not_found", "too_many_keys"],
    (error) =>
      HttpApiEndpoint.post("createKey", `${account}/keys`, {
        params: accountId,
        payload: CreateKeyRequest,
        success: shownOnce(AdminNewKey.pipe(HttpApiSchema.status(201))),
        error
      })
  ),
  configure(
    "operator",
    "Change the budget of an API key",
    "Changes the given limits. They apply to the keys that the key replaced too, and on every server within 5 seconds.",
    ["account_deleted", "not_found", "key_ended"],
    (error) =>
      HttpApiEndpoint.patch("updateKey", `${account}/keys/:key_id`, {
        params: keyId,
        payload: UpdateKeyRequest,
        success: AdminKey,
        error
      })
  ),
  configure(
    "operator",
    "Roll an API key",
    "Creates a key with the same name, restrictions and budget. The former key expires after `overlap_seconds`. Only this " +
      "response contains the new key.",
    ["account_deleted", "not_found", "key_ended", "too_many_keys"],
    (error) =>
      HttpApiEndpoint.post("rollKey", `${account}/keys/:key_id/roll`, {
        params: keyId,
        payload: RollKeyRequest,
        success: shownOnce(AdminNewKey.pipe(HttpApiSchema.status(201))),
        error
      })
  ),
  operate(
    "auditor",
    "List the API keys of an account",
    "All keys in use, then the latest revoked ones; at most 200.",
    ["not_found"],
    (error) => HttpApiEndpoint.get("listKeys", `${account}/keys`, { params: accountId, success: AdminKeyList, error })
  ),
  operate(
    "operator",
    "Revoke an API key",
    "Requests with the key are rejected on every server within 5 seconds. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("revokeKey", `${account}/keys/:key_id`, {
        params: keyId,
        success: HttpApiSchema.NoContent,
        error
      })
  )
).annotate(OpenApi.Description, "Create, change, roll, list and revoke API keys.") {}
