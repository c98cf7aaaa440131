/** Checks of commands. */
import { DateTime, Effect, Option } from "effect"
import {
  type ApiKey,
  authorCharsMax,
  isAuthor,
  isName,
  isOwner,
  type KeyId,
  nameCharsMax,
  ownerCharsMax
} from "../ApiKey.ts"
import * as Errors from "../ApiKeysError.ts"
import type { ApiKeyStore } from "../ApiKeyStore.ts"
import { hasExpired } from "../KeyTerms.ts"

/** Creates the error of a rejected command. */
export const refuse = (reason: Errors.ApiKeysErrorReason) => new Errors.ApiKeysError({ reason })

/** Fails if a text cannot be an owner. */
export const validOwner = (owner: string) =>
  valid(isOwner(owner), () => new Errors.OwnerInvalid({ field: "owner", charsMax: ownerCharsMax }))

/** Fails if a text cannot be an author. */
export const validAuthor = (author: string | null) =>
  valid(
    author === null || isAuthor(author),
    () => new Errors.OwnerInvalid({ field: "createdBy", charsMax: authorCharsMax })
  )

/** Fails if a text cannot be the name of a key. */
export const validName = (name: string) => valid(isName(name), () => new Errors.NameInvalid({ charsMax: nameCharsMax }))

/** Makes a function that returns a key of a locked owner, unless the key has ended. */
export const makeFindActive = (store: ApiKeyStore["Service"]) =>
  Effect.fnUntraced(function*(owner: string, id: KeyId) {
    const found = yield* store.findKey(owner, id)
    if (Option.isNone(found)) return yield* refuse(new Errors.KeyNotFound({ owner, id }))
    return hasEnded(found.value, yield* DateTime.now)
      ? yield* refuse(new Errors.KeyEnded({ owner, id }))
      : found.value
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const valid = (isValid: boolean, reason: () => Errors.ApiKeysErrorReason) =>
  isValid ? Effect.void : Effect.fail(refuse(reason()))

const hasEnded = ({ revokedAt, terms }: ApiKey, at: DateTime.Utc) => Option.isSome(revokedAt) || hasExpired(terms, at)
