/** Options of a test host. */
import type { Plan, PlanTable } from "@kinora/accounts"
import type { Model } from "@kinora/catalog"
import type { GenerationRequest, GeneratorError, ScriptedGenerator } from "@kinora/generator"
import type { Drivers, Http } from "@kinora/hosting"
import type { PaymentProvider } from "@kinora/payments"
import type { Webhook } from "@kinora/webhook-signing"
import type { Duration, Layer } from "effect"

/** Options for `TestHost.start` and `TestHost.layer`, all optional. */
export interface TestHostOptions {
  /** Models, as in `kinora.config.yaml`. Default: `kinora-still`, `kinora-motion` and `kinora-draft`. */
  readonly models?: ReadonlyArray<Model.ModelInput> | undefined

  /** Plans and credits of the first account. */
  readonly account?: AccountOptions | undefined

  /**
   * Script of all jobs, or a function from the request to its script. `{ delay: "hold" }`
   * waits for `generator.succeed` or `generator.fail`. Default: jobs succeed immediately.
   */
  readonly script?: Script | undefined

  /**
   * Runs each model on the driver that it names, as in production. The default models
   * use the procedural driver. Default false: models run on the scripted driver, unless
   * `drivers` has theirs.
   */
  readonly procedural?: boolean | undefined

  /**
   * Drivers under test, by name. Models that name one of them run on it; time stands
   * still during its calls, which therefore must not sleep. Invalid options fail the start.
   */
  readonly drivers?: Drivers.Registrations | undefined

  /** `virtual` time passes only when a test advances it; `real` time is the machine's. Default `virtual`. */
  readonly time?: "virtual" | "real" | undefined

  /** Start of virtual time, in Unix milliseconds or as a date. Default 2030-01-01T00:00:00Z. */
  readonly startsAt?: number | Date | undefined

  /** Maximum number of concurrent jobs of all accounts. With 0, no job starts. Default 8. */
  readonly workers?: number | undefined

  /** Time during which results can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined

  /** Limits and quotas of tiers. Default: those of the product. */
  readonly planTable?: PlanTable.PlanTable | undefined

  /** Collects payments of customers. Default: none, so that checkouts are rejected. */
  readonly paymentProvider?: Layer.Layer<PaymentProvider.PaymentProvider> | undefined

  /** Limits and base URL of the HTTP API. */
  readonly http?: Omit<Http.InterfaceOptions, "adminToken" | "resultTtl"> | undefined

  /** Webhook options. Default: nothing leaves the process, and each send receives 200 immediately. */
  readonly webhooks?: WebhookOptions | undefined

  /** Token of the admin API. `null` disables the admin API. Default: `defaultAdminToken`. */
  readonly adminToken?: string | null | undefined
}

/** Script of all jobs, or a function from the request to its script. */
export type Script = JobScript | ((request: GenerationRequest.GenerationRequest) => JobScript)

/** Script of a job. */
export interface JobScript extends ScriptedGenerator.Script {
  /** Fails the job. In place of `outcome`. */
  readonly failure?: Failure | undefined
}

/** Failure of a job. */
export interface Failure {
  /** Default `generation_failed`. */
  readonly code?: GeneratorError.FailureCode | undefined
  /** Default `provider`. */
  readonly reason?: GeneratorError.FailureReason | undefined
  /** Returned to the client. */
  readonly message?: string | undefined
}

/** Webhook options. */
export interface WebhookOptions {
  /** Response to all sends, or a function from the request to its response. Default: 200 immediately. */
  readonly script?: WebhookScript | undefined
  /**
   * Sends over the network, to a receiver of the test, and ignores `script`. HTTP, all
   * ports and private addresses are allowed. Default false.
   */
  readonly network?: boolean | undefined
}

/** Response to all sends, or a function from the request to its response. */
export type WebhookScript = WebhookAnswer | ((request: WebhookRequest) => WebhookAnswer)

/** Scripted response to a send. */
export interface WebhookAnswer {
  /** Default 200. */
  readonly status?: number | undefined
  /** Time until the response. `hold` never responds, so that the send times out after 10 seconds. Default 0. */
  readonly delay?: Duration.Input | "hold" | undefined
  /** Fails the send with this reason, without a response. `status` is ignored. */
  readonly failure?: "timeout" | "dns" | "connect" | "tls" | "blocked_address" | "protocol" | undefined
}

/** A webhook as its receiver sees it. */
export interface WebhookRequest {
  readonly url: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw bytes that the signature covers. */
  readonly body: Uint8Array<ArrayBuffer>
  /** The parsed body. */
  readonly event: Webhook.Event
  /** Time of the send. */
  readonly at: Date
}

/** Plans and credits of an account. `null` means no plan. */
export interface AccountOptions {
  /** Default `account-<number>@example.com`. */
  readonly email?: string | undefined
  /** Default `pro`. */
  readonly studio?: Plan.StudioTier | null | undefined
  /** Tier of the credits group. It sets limits and grants no credits. Default `pro`. */
  readonly creditsPlan?: Plan.CreditsTier | null | undefined
  /** Credits, granted in one lot. Default 1 000. */
  readonly credits?: number | undefined
  /** Time until plans and credits expire. Default 365 days. */
  readonly lasts?: Duration.Input | undefined
}

/** Default start of virtual time. It is in the future, so that clients that use their own clock see nothing as expired. */
export const startsAt = Date.UTC(2030, 0, 1)

/** Default token of the admin API. It is public: a test host protects nothing. */
export const defaultAdminToken = "the operators of a test host have this token"

/** Default base URL. The domain `.test` is reserved, so no real host can have this name. */
export const defaultBaseUrl = "http://kinora.test"

/** Default time during which results can be downloaded. */
export const defaultResultTtl = "24 hours"
