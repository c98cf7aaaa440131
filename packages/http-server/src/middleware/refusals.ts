/** Maps the errors of the domain packages to errors of the API. */
import type { AccountsError } from "@kinora/accounts"
import type { AddressGuard } from "@kinora/address-guard"
import type { GenerationError, UploadError } from "@kinora/generations"
import { type ApiError, refuse } from "@kinora/http-api/ApiError"
import type { LedgerError } from "@kinora/ledger"
import type { OperatorsError } from "@kinora/operators"
import type { PaymentProvider, PaymentsError } from "@kinora/payments"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { SessionsError } from "@kinora/sessions"
import type { WebhooksError } from "@kinora/webhooks"
import { DateTime, Duration, Effect, Predicate } from "effect"
import * as KeyBudget from "../wire/keyBudget.ts"

/** A name of a domain refusal that has a meaning over HTTP. */
export type RefusalName = keyof typeof refusals

/**
 * Makes a handler that responds to the named refusals with their API errors, and to
 * storage failures that may pass with 503. Any other refusal is a bug, and a defect.
 *
 * @example answers(["NotFound", "NotCancellable"], function*({ params }) { … })
 */
export const answers = <
  const Name extends RefusalName,
  Args extends ReadonlyArray<unknown>,
  Yielded extends Effect.Effect<unknown, unknown, unknown>,
  A
>(
  names: ReadonlyArray<Name>,
  body: (...args: Args) => Generator<Yielded, A, never>
): (
  ...args: Args
) => Effect.Effect<A, Answered<ErrorOf<Yielded>, Name>, ServicesOf<Yielded>> => {
  const run = Effect.fnUntraced(body)
  return (...args) => answering(names, run(...args))
}

/** Runs the effect, and fails with the API errors of the named refusals. See `answers`. */
export const answering = <const Name extends RefusalName, A, E, R>(
  names: ReadonlyArray<Name>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Answered<E, Name>, R> => Effect.catch(effect, (error) => answer(names, error))

/** The API errors of an effect that fails with `E` after `answering`. */
export type Answered<E, Name extends RefusalName> = Exclude<E, DomainError> | Answer<Name> | ApiError<"unavailable">

/** Responds to a storage failure that may pass with 503. Any other is a defect. */
export const unavailable = (error: StorageError): Effect.Effect<never, ApiError<"unavailable">> =>
  error.isRetryable
    ? Effect.andThen(Effect.logWarning("Storage is unavailable", error), storageUnavailable)
    : Effect.die(error)

/** 503 for a backend that does not respond. */
export const storageUnavailable = refuse("unavailable")

/** Rejects a request for a model that does not exist. */
export const modelNotFound = (model: string) => refuse("model_not_found", { details: { model: shorten(model) } })

/** Rejects a request because of one parameter. */
export const invalidParameter = (path: string, message: string) =>
  refuse("invalid_params", { details: { issues: [{ path, message }] } })

/** Parses an id. A malformed id is not found, like an unknown one. */
export const parseId = <Id>(parse: (text: string) => Id | undefined, text: string) => {
  const id = parse(text)
  return id === undefined ? refuse("not_found") : Effect.succeed(id)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type DomainError =
  | AccountsError.AccountsError
  | GenerationError.GenerationError
  | LedgerError.LedgerError
  | OperatorsError.OperatorsError
  | PaymentsError.PaymentsError
  | SessionsError.SessionsError
  | UploadError.UploadError
  | WebhooksError.WebhooksError
  | StorageError

// As `Effect.fnUntraced` infers them from a generator.
/** The errors of what a generator yields. */
export type ErrorOf<Yielded> = [Yielded] extends [never] ? never
  : [Yielded] extends [Effect.Effect<infer _A, infer E, infer _R>] ? E
  : never
/** The services of what a generator yields. */
export type ServicesOf<Yielded> = [Yielded] extends [never] ? never
  : [Yielded] extends [Effect.Effect<infer _A, infer _E, infer R>] ? R
  : never

type Answer<Name extends RefusalName> = Effect.Error<ReturnType<(typeof refusals)[Name]>>

const domainTags = [
  "AccountsError",
  "GenerationError",
  "LedgerError",
  "OperatorsError",
  "PaymentsError",
  "SessionsError",
  "UploadError",
  "WebhooksError",
  "StorageError"
]

const isDomainError = (error: unknown): error is DomainError => domainTags.some((tag) => Predicate.isTagged(error, tag))

const answer = <E, Name extends RefusalName>(
  names: ReadonlyArray<Name>,
  error: E
): Effect.Effect<never, Answered<E, Name>> => {
  // The type of the check does not exclude the domain errors from a generic type.
  if (!isDomainError(error)) return Effect.fail(error as Exclude<E, DomainError>)
  if (error._tag === "StorageError") return unavailable(error)
  const { reason } = error
  const name = names.find((name) => name === reason._tag)
  if (name === undefined) return Effect.die(error)
  // `refusals` maps the name of a reason to a function of that reason, which its type cannot express.
  return (refusals[name] as (reason: unknown) => Effect.Effect<never, Answer<Name>>)(reason)
}

/** Rejects a body because of one property. */
export const invalidField = (path: string, message: string) =>
  refuse("invalid_request", { details: { issues: [{ path, message }] } })

const notFound = () => refuse("not_found")

/** By the name of the reason. */
const refusals = {
  // Creating jobs
  ModelNotFound: ({ model }: GenerationError.ModelNotFound) => modelNotFound(model),
  ModelUnavailable: ({ model, retryAfter }: GenerationError.ModelUnavailable) =>
    refuse("model_unavailable", {
      details: { model },
      ...(retryAfter === null ? {} : { retryAfterMillis: Duration.toMillis(retryAfter) })
    }),
  ModelNotInPlan: ({ model, plan }: GenerationError.ModelNotInPlan) =>
    refuse("model_not_in_plan", { plan, details: { model } }),
  PlanInactive: ({ plan }: GenerationError.PlanInactive) => refuse("plan_inactive", { plan }),
  InvalidParams: ({ issues }: GenerationError.InvalidParams) => refuse("invalid_params", { details: { issues } }),
  InvalidImage: (reason: GenerationError.InvalidImage | UploadError.InvalidImage) =>
    refuse("invalid_image", { message: sentence(reason.message), details: indexOf(reason) }),
  ImageTimedOut: () =>
    refuse("unavailable", { message: "An image could not be decoded in time; retry shortly, or scale it down." }),
  InputPixelsExceeded: ({ perMinute, retryAfter }: GenerationError.InputPixelsExceeded) =>
    refuse("rate_limited", {
      message: `The input images of an account are limited to ${perMinute} pixels per minute; scale them down, or ` +
        "retry after the time in Retry-After.",
      details: { scope: "uploads" },
      retryAfterMillis: Duration.toMillis(retryAfter)
    }),
  UploadNotFound: (reason: GenerationError.UploadNotFound | UploadError.UploadNotFound) =>
    refuse("upload_not_found", { details: indexOf(reason) }),
  ContentRejected: ({ image, plan, reason }: GenerationError.ContentRejected) =>
    refuse("content_rejected", {
      plan,
      message: image === null
        ? "The moderation rejected the prompt; nothing was charged. Change the prompt."
        : `The moderation rejected params.images[${image}]; nothing was charged. Use another image.`,
      details: image === null ? { input: "prompt", reason } : { input: "image", index: image, reason }
    }),
  ModerationUnavailable: () =>
    refuse("unavailable", { message: "The content could not be checked; nothing was charged. Retry later." }),
  KeyBudgetExceeded: ({ budget, limit, plan, required, resetsAt, used }: GenerationError.KeyBudgetExceeded) =>
    Effect.flatMap(DateTime.now, (now) =>
      refuse("key_budget_exceeded", {
        plan,
        details: { budget: KeyBudget.names[budget], limit, used, required, resets_at: resetsAt },
        retryAfterMillis: Math.max(1, resetsAt.epochMilliseconds - now.epochMilliseconds),
        // The budget is used up until the day or the month ends.
        shouldRetry: false
      })),
  QuotaExceeded: ({ plan, quotaKind, resetsAt }: GenerationError.QuotaExceeded) =>
    refuse("quota_exceeded", { plan, details: { quota_kind: quotaKind, resets_at: resetsAt } }),
  InsufficientCredits: ({ available, plan, required }: GenerationError.InsufficientCredits) =>
    refuse("insufficient_credits", { plan, details: { required, available } }),
  QueueFull: ({ plan, waitingMax }: GenerationError.QueueFull) =>
    refuse("queue_full", { plan, details: { waiting_max: waitingMax } }),
  KeyReused: () => refuse("idempotency_key_reused"),
  KeyInProgress: () => refuse("idempotency_in_progress"),

  // Reading and cancelling jobs
  NotFound: notFound,
  NotCancellable: ({ plan, status }: GenerationError.NotCancellable) =>
    refuse("not_cancellable", { plan, details: { status } }),
  AlreadyEnded: ({ status }: GenerationError.AlreadyEnded) => refuse("job_ended", { details: { status } }),
  ResultNotReady: ({ status }: GenerationError.ResultNotReady) => refuse("result_not_ready", { details: { status } }),
  ResultNotFound: ({ status }: GenerationError.ResultNotFound) => refuse("result_not_found", { details: { status } }),
  ResultExpired: ({ expiredAt }: GenerationError.ResultExpired) =>
    refuse("result_expired", { details: { expired_at: expiredAt } }),

  // Uploads
  TooManyUploads: ({ max }: UploadError.TooManyUploads) =>
    refuse("rate_limited", {
      message: `The account has ${max} uploads, the maximum; delete one, or wait until one expires.`,
      details: { scope: "uploads" },
      retryAfterMillis: 60_000,
      // Uploads expire after hours, so retrying at this pace does not help.
      shouldRetry: false
    }),
  TooManyUploadBytes: ({ bytesMax }: UploadError.TooManyUploadBytes) =>
    refuse("rate_limited", {
      message: `The uploads of the account can have ${bytesMax} bytes together; delete one, or wait until one expires.`,
      details: { scope: "uploads" },
      retryAfterMillis: 60_000,
      shouldRetry: false
    }),

  // Accounts
  AccountNotFound: notFound,
  AccountDeleted: ({ erased }: AccountsError.AccountDeleted) => refuse("account_deleted", { details: { erased } }),
  KeyNotFound: notFound,
  EmailInvalid: () => invalidField("email", "must be an e-mail address"),
  EmailTaken: () => refuse("email_taken"),
  KeyNameInvalid: ({ charsMax }: AccountsError.KeyNameInvalid) =>
    invalidField("name", `must have 1 to ${charsMax} characters, not all blank, without control characters`),
  KeyTermsInvalid: ({ problem }: AccountsError.KeyTermsInvalid) => invalidField("", problem),
  KeyBudgetInvalid: ({ problem }: AccountsError.KeyBudgetInvalid) => invalidField("budget", problem),
  BudgetFixed: ({ budget, limit }: AccountsError.BudgetFixed) =>
    refuse("key_budget_fixed", { details: { budget: KeyBudget.names[budget], limit } }),
  KeyEnded: () => refuse("key_ended"),
  TooManyKeys: ({ keysMax }: AccountsError.TooManyKeys) => refuse("too_many_keys", { details: { keys_max: keysMax } }),
  BalanceTooLow: ({ availableCents, requiredCents }: AccountsError.BalanceTooLow) =>
    refuse("insufficient_balance", {
      details: { required_usd_cents: requiredCents, available_usd_cents: availableCents }
    }),
  PlanNotActive: () => refuse("plan_not_active"),
  ReferenceReused: () => refuse("reference_reused"),

  // Payments
  PaymentAmountInvalid: ({ centsMax, centsMin }: PaymentsError.PaymentAmountInvalid) =>
    invalidField("amount_usd_cents", `must be a whole number from ${centsMin} to ${centsMax}`),
  TooManyPayments: ({ openMax }: PaymentsError.TooManyPayments) =>
    refuse("too_many_payments", { details: { open_max: openMax } }),
  PaymentsDisabled: () => refuse("payments_disabled"),
  ProviderRejected: ({ problem }: PaymentProvider.ProviderRejected) =>
    refuse("payment_rejected", { details: { problem } }),
  ProviderUnavailable: () => refuse("unavailable", { message: "The payment provider does not respond; retry later." }),

  // Credits
  UnknownLot: notFound,
  GrantExpired: () => invalidField("expires_at", "must be in the future"),

  // Operators
  OperatorNotFound: notFound,
  OperatorEnded: () => refuse("operator_ended"),
  NameInvalid: ({ charsMax }: OperatorsError.NameInvalid) =>
    invalidField("name", `must have 1 to ${charsMax} characters, not all blank, without control characters`),
  ExpiryInvalid: () => invalidField("expires_at", "must be in the future"),
  TooManyOperators: ({ operatorsMax }: OperatorsError.TooManyOperators) =>
    refuse("too_many_operators", { details: { operators_max: operatorsMax } }),

  // Sessions
  SessionNotFound: notFound,
  TooManyCodes: ({ codesMax }: SessionsError.TooManyCodes) =>
    refuse("too_many_links", { details: { links_max: codesMax } }),

  MemberNotFound: notFound,
  MemberExists: () => refuse("member_exists"),
  TooManyMembers: ({ membersMax }: SessionsError.TooManyMembers) =>
    refuse("too_many_members", { details: { members_max: membersMax } }),

  // Webhooks
  EndpointNotFound: notFound,
  DeliveryNotFound: notFound,
  AddressRefused: ({ message, problem }: AddressGuard.AddressRefused) =>
    refuse("invalid_webhook_url", { message: sentence(message), details: { problem } }),
  DeliveryPending: () => refuse("delivery_pending"),
  EndpointDisabled: () => refuse("endpoint_disabled"),
  OverlapInvalid: ({ secondsMax }: WebhooksError.OverlapInvalid | OperatorsError.OverlapInvalid) =>
    invalidField("overlap_seconds", `must be from 0 to ${secondsMax}`),
  TypesInvalid: ({ message }: WebhooksError.TypesInvalid) => invalidField("types", message),
  TooManyEndpoints: ({ endpointsMax }: WebhooksError.TooManyEndpoints) =>
    refuse("too_many_endpoints", { details: { endpoints_max: endpointsMax } }),
  TooManySecrets: ({ secretsMax }: WebhooksError.TooManySecrets) =>
    refuse("too_many_secrets", { details: { secrets_max: secretsMax } })
}

/** The position of an input image. Uploads have none. */
const indexOf = (reason: object): { readonly index?: number } =>
  "index" in reason && typeof reason.index === "number" ? { index: reason.index } : {}

/** Messages of domain packages end with or without a full stop. */
const sentence = (text: string): string => text.endsWith(".") ? text : `${text}.`

/** A malformed id can be as long as a body. */
const shorten = (text: string) => text.length > 128 ? `${text.slice(0, 128)}…` : text
