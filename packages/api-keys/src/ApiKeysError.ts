/** Errors of `ApiKeys`. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { KeyId } from "./ApiKey.ts"

/** The owner has no key with this id. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>("@kinora/api-keys/KeyNotFound")(
  "KeyNotFound",
  { owner: Schema.String, id: KeyId.schema }
) {}

/** The key was revoked or has expired, so it cannot be rolled or renamed. */
export class KeyEnded extends Schema.TaggedError<KeyEnded>("@kinora/api-keys/KeyEnded")(
  "KeyEnded",
  { owner: Schema.String, id: KeyId.schema }
) {}

/** The owner has the maximum number of active keys. Revoke one first. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>("@kinora/api-keys/TooManyKeys")(
  "TooManyKeys",
  { owner: Schema.String, keysMax: Schema.Int }
) {}

/** The owner or the author is empty, too long, or not a text that Postgres can store. */
export class OwnerInvalid extends Schema.TaggedError<OwnerInvalid>("@kinora/api-keys/OwnerInvalid")(
  "OwnerInvalid",
  { field: Schema.Literals(["owner", "createdBy"]), charsMax: Schema.Int }
) {}

/** The name of a key is blank, too long, or contains control characters. */
export class NameInvalid extends Schema.TaggedError<NameInvalid>("@kinora/api-keys/NameInvalid")(
  "NameInvalid",
  { charsMax: Schema.Int }
) {}

/** The terms of a key restrict it to nothing, have too many scopes or networks, or end in the past or after the year 9999. */
export class TermsInvalid extends Schema.TaggedError<TermsInvalid>("@kinora/api-keys/TermsInvalid")(
  "TermsInvalid",
  { problem: Schema.String }
) {}

/** The metadata of a key is too large, or not an object of JSON. */
export class MetadataInvalid extends Schema.TaggedError<MetadataInvalid>("@kinora/api-keys/MetadataInvalid")(
  "MetadataInvalid",
  { problem: Schema.String }
) {}

/** Reason of an `ApiKeysError`. */
export const ApiKeysErrorReason = Schema.Union([
  KeyNotFound,
  KeyEnded,
  TooManyKeys,
  OwnerInvalid,
  NameInvalid,
  TermsInvalid,
  MetadataInvalid
])
/** Type of `ApiKeysErrorReason`. */
export type ApiKeysErrorReason = typeof ApiKeysErrorReason.Type

/** The error of a rejected command. Nothing was changed. */
export class ApiKeysError extends Rejection.define<ApiKeysError>("@kinora/api-keys/ApiKeysError")(
  "ApiKeysError",
  "ApiKeys",
  ApiKeysErrorReason
) {}
