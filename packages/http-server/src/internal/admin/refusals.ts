/** What operators are refused, and how (D40). */
import { Account } from "@kinora/accounts"
import type * as Refused from "@kinora/accounts/AccountsError"
import { conflict, invalidUrl } from "@kinora/http-api/AdminError"
import { BadRequest, bodyOf, NotFound, type ServiceUnavailable } from "@kinora/http-api/ApiError"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { AddressRefused } from "@kinora/webhooks/AddressGuard"
import type * as RefusedWebhook from "@kinora/webhooks/WebhooksError"
import { Effect, Predicate } from "effect"
import { sentence, unavailable } from "../refusals.ts"

/** There is nothing with this id, or it is no id at all (D2). */
export const notFound = Effect.fail(
  new NotFound({ error: bodyOf("not_found", { message: "There is nothing with this id; check the path." }) })
)

/** A field whose text fits its type and is still not good. */
export const invalid = (path: string, message: string) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_request", { details: { issues: [{ path, message }] } }) }))

/** A parameter whose text fits its type and is still not good. */
export const invalidParameter = (path: string, message: string) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_params", { details: { issues: [{ path, message }] } }) }))

/** The id that `parse` reads in this text. */
export const idOf = <Id>(parse: (text: string) => Id | undefined, text: string) => {
  const id = parse(text)
  return id === undefined ? notFound : Effect.succeed(id)
}

/** The account of this id's text. */
export const accountIdOf = (text: string) => idOf(Account.AccountId.parse, text)

/**
 * Answers operators with the refusals of these names, as far as use-cases give them,
 * and with 503 for storage that may come back. A refusal that is not named is a bug.
 */
export const answer =
  <Name extends keyof typeof cases = never>(...names: ReadonlyArray<Name>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, Refusal> | Answer<Name>, R> =>
    Effect.catch(self, (error): Effect.Effect<never, Exclude<E, Refusal> | Answer<Name>> =>
      isRefusal(error)
        ? respond(names, error)
        // What is no refusal is one of the others, which the type of the check cannot tell.
        : Effect.fail(error as Exclude<E, Refusal>))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Refusal = Refused.AccountsError | RefusedWebhook.WebhooksError | StorageError
type Answer<Name extends keyof typeof cases> = Effect.Error<ReturnType<(typeof cases)[Name]>> | ServiceUnavailable
type Case<Name extends keyof typeof cases> = (reason: unknown) => Effect.Effect<never, Answer<Name>>

const isRefusal = (error: unknown): error is Refusal =>
  ["AccountsError", "WebhooksError", "StorageError"].some((tag) => Predicate.isTagged(error, tag))

const respond = <Name extends keyof typeof cases>(
  names: ReadonlyArray<Name>,
  error: Refusal
): Effect.Effect<never, Answer<Name>> => {
  if (error._tag === "StorageError") return unavailable(error)
  const name = names.find((name) => name === error.reason._tag)
  // Each case takes the reason of its name, and this reason is of that name.
  return name === undefined ? Effect.die(error.reason) : (cases[name] as Case<Name>)(error.reason)
}

/** By the name of the reason. */
const cases = {
  AccountNotFound: () => notFound,
  DeliveryNotFound: () => notFound,
  EndpointNotFound: () => notFound,
  KeyNotFound: () => notFound,
  EmailInvalid: () => invalid("email", "must be an e-mail address"),
  KeyNameInvalid: ({ charsMax }: Refused.KeyNameInvalid) =>
    invalid("name", `must not be blank, have at most ${charsMax} characters and no control characters`),
  OverlapInvalid: ({ secondsMax }: RefusedWebhook.OverlapInvalid) =>
    invalid("overlap_seconds", `must be from 0 to ${secondsMax}`),
  TypesInvalid: ({ message }: RefusedWebhook.TypesInvalid) => invalid("types", message),
  AddressRefused: ({ message, problem }: AddressRefused) => Effect.fail(invalidUrl(problem, sentence(message))),
  DeliveryPending: () => Effect.fail(conflict("delivery_pending")),
  EmailTaken: () => Effect.fail(conflict("email_taken")),
  EndpointDisabled: () => Effect.fail(conflict("endpoint_disabled")),
  ReferenceReused: () => Effect.fail(conflict("reference_reused")),
  TooManyEndpoints: ({ endpointsMax }: RefusedWebhook.TooManyEndpoints) =>
    Effect.fail(conflict("too_many_endpoints", { endpoints_max: endpointsMax })),
  TooManyKeys: ({ keysMax }: Refused.TooManyKeys) => Effect.fail(conflict("too_many_keys", { keys_max: keysMax })),
  TooManySecrets: ({ secretsMax }: RefusedWebhook.TooManySecrets) =>
    Effect.fail(conflict("too_many_secrets", { secrets_max: secretsMax }))
}
