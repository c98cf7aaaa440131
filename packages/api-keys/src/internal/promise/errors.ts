/** The refusals of API keys as errors of JavaScript. */
import { errorsByTag, errorsOf } from "@kinora/persistence/PromiseApi"
import type * as Refusal from "../../ApiKeysError.ts"

/** A call was refused. Nothing was changed. */
export abstract class ApiKeysError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

const define = errorsOf(ApiKeysError)

/** The owner has no key with this id. Fields: `owner`, `id`. */
export class KeyNotFoundError extends define(
  "key_not_found",
  ({ id, owner }: Pick<Refusal.KeyNotFound, "owner"> & { readonly id: string }) => `"${owner}" has no API key "${id}"`
) {}

/** The key was revoked or has expired, so it cannot be rolled or renamed. Fields: `owner`, `id`. */
export class KeyEndedError extends define(
  "key_ended",
  ({ id }: Refusal.KeyEnded) => `The API key ${id} was revoked or has expired`
) {}

/** The owner has the maximum number of active keys. Fields: `owner`, `keysMax`. */
export class TooManyKeysError extends define(
  "too_many_keys",
  ({ keysMax, owner }: Refusal.TooManyKeys) => `"${owner}" has ${keysMax} active API keys, the maximum`
) {}

/** The owner or the author is invalid. Fields: `field`, `charsMax`. */
export class OwnerInvalidError extends define(
  "owner_invalid",
  ({ charsMax, field }: Refusal.OwnerInvalid) => `\`${field}\` must have 1 to ${charsMax} characters, without NUL`
) {}

/** The name is blank, too long, or contains control characters. Field: `charsMax`. */
export class NameInvalidError extends define(
  "name_invalid",
  ({ charsMax }: Refusal.NameInvalid) =>
    `The name of an API key must have 1 to ${charsMax} characters, without control characters`
) {}

/** The terms restrict the key to nothing, have too many scopes or networks, or end in the past or after the year 9999. Field: `problem`. */
export class TermsInvalidError
  extends define("terms_invalid", ({ problem }: Pick<Refusal.TermsInvalid, "problem">) => problem)
{}

/** The metadata is too large, or not an object of JSON. Field: `problem`. */
export class MetadataInvalidError
  extends define("metadata_invalid", ({ problem }: Refusal.MetadataInvalid) => problem)
{}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<Refusal.ApiKeysError["reason"], ApiKeysError>({
  KeyNotFound: KeyNotFoundError,
  KeyEnded: KeyEndedError,
  TooManyKeys: TooManyKeysError,
  OwnerInvalid: OwnerInvalidError,
  NameInvalid: NameInvalidError,
  TermsInvalid: TermsInvalidError,
  MetadataInvalid: MetadataInvalidError
})
