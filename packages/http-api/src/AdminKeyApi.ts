/** The part of the operator API that is about API keys. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { configure, operate } from "./internal/adminOperation.ts"
import { parameter } from "./internal/fields.ts"
import { change, creation, listing, roll } from "./internal/keyOperations.ts"
import { account, accountId } from "./internal/paths.ts"

const keys = `${account}/keys` as const
const key = `${keys}/:key_id` as const
const keyId = { ...accountId, key_id: parameter("The id of the key, `key_…`.") }

const update = change(" Members cannot exceed or remove them.")

/** Creates, changes, rolls, lists and revokes API keys. */
export class AdminKeys extends HttpApiGroup.make("keys").add(
  configure(
    "operator",
    creation.summary,
    creation.description,
    ["account_deleted", "not_found", "too_many_keys"],
    (error) => HttpApiEndpoint.post("createKey", keys, { params: accountId, ...creation.schemas, error })
  ),
  configure(
    "operator",
    update.summary,
    update.description,
    ["account_deleted", "not_found", "key_ended"],
    (error) => HttpApiEndpoint.patch("updateKey", key, { params: keyId, ...update.schemas, error })
  ),
  configure(
    "operator",
    roll.summary,
    roll.description,
    ["account_deleted", "not_found", "key_ended", "too_many_keys"],
    (error) => HttpApiEndpoint.post("rollKey", `${key}/roll`, { params: keyId, ...roll.schemas, error })
  ),
  operate(
    "auditor",
    "List the API keys of an account",
    listing.description,
    ["not_found"],
    (error) => HttpApiEndpoint.get("listKeys", keys, { params: accountId, ...listing.schemas, error })
  ),
  operate(
    "operator",
    "Revoke an API key",
    "Requests with the key are rejected on every server within 5 seconds. Idempotent.",
    ["not_found"],
    (error) => HttpApiEndpoint.delete("revokeKey", key, { params: keyId, success: HttpApiSchema.NoContent, error })
  )
).annotate(OpenApi.Description, "Create, change, roll, list and revoke API keys.") {}
