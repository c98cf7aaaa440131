/** Calls of Stripe's API: their time limits, repeated requests and errors. */
import { Duration, Effect, Redacted, Schedule } from "effect"
import type { Stripe } from "stripe"
import { ProviderRejected, ProviderUnavailable } from "../../PaymentProvider.ts"

/** The class of clients, which is loaded when it is needed. */
export type StripeClass = typeof Stripe

/** The API version that the requests are written for. An upgrade of the library does not change it. */
const apiVersion = "2026-10-28.endive"

/** Options of the calls. See `StripeProvider.StripeOptions`. */
export interface CallOptions {
  readonly secretKey: Redacted.Redacted
  readonly apiBase?: string | undefined
  readonly timeout?: Duration.Input | undefined
  readonly deadline?: Duration.Input | undefined
  readonly retries?: number | undefined
}

/** The API has no such object, or another account has it. */
export class Missing extends ProviderRejected {}

/** Whether an error is `Missing`. */
export const isMissing = (error: unknown): error is Missing => error instanceof Missing

/** Makes the function that runs a request, and repeats it after failures that may pass. */
export const make = (
  library: StripeClass,
  provider: string,
  { apiBase = "https://api.stripe.com", deadline = "25 seconds", retries = 2, secretKey, timeout = "10 seconds" }:
    CallOptions
) => {
  const { hostname, port, protocol } = new URL(apiBase)
  const failureOf = makeFailureOf(library, provider, secretKey)

  const makeClient = (signal: AbortSignal) =>
    new library(Redacted.value(secretKey), {
      apiVersion,
      host: hostname,
      port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port),
      protocol: protocol === "http:" ? "http" : "https",
      timeout: Duration.toMillis(Duration.fromInputUnsafe(timeout)),
      maxNetworkRetries: 0,
      telemetry: false,
      httpClient: library.createFetchHttpClient((url, init) =>
        fetch(url, { ...init, redirect: "error", signal: AbortSignal.any([signal, ...signalsOf(init)]) })
      )
    })

  return <A>(run: (client: Stripe, request: Stripe.RequestOptions) => Promise<A>) =>
    Effect.tryPromise({
      // A client per request, since only its HTTP client can end the request with the fiber.
      try: (signal) => run(makeClient(signal), { maxNetworkRetries: 0 }),
      catch: failureOf
    }).pipe(
      Effect.retry({
        times: retries,
        while: (error) => error instanceof ProviderUnavailable,
        schedule: Schedule.jittered(Schedule.exponential("300 millis"))
      }),
      Effect.timeoutOrElse({
        duration: deadline,
        orElse: () => Effect.fail(new ProviderUnavailable({ provider, problem: "the call took too long" }))
      })
    )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeFailureOf = (library: StripeClass, provider: string, secretKey: Redacted.Redacted) => (cause: unknown) => {
  if (!(cause instanceof library.errors.StripeError)) {
    return new ProviderUnavailable({ provider, problem: textOf(cause) })
  }
  const { code, message, requestId, statusCode: status } = cause
  const details = [`status ${status ?? "none"}`, code, requestId].filter((detail) => detail !== undefined).join(", ")
  // The API repeats parts of a wrong key. A proxy could repeat all of it.
  const problem = `${message.replaceAll(Redacted.value(secretKey), "<redacted>")} (${details})`
  // 409: a request with the same idempotency key is in progress.
  const mayPass = status === undefined || status >= 500 || status === 429 || status === 409
  if (mayPass) return new ProviderUnavailable({ provider, problem })
  return status === 404 ? new Missing({ provider, problem }) : new ProviderRejected({ provider, problem })
}

const signalsOf = (init: RequestInit | undefined) => init?.signal instanceof AbortSignal ? [init.signal] : []

const textOf = (cause: unknown): string => cause instanceof Error ? cause.name : "unknown error"
