/** What a test can say about its service. Nothing has to be said. */
import type { Plan, PlanTable } from "@kinora/accounts"
import type { Model } from "@kinora/catalog"
import type { GenerationRequest, ScriptedGenerator } from "@kinora/generator"
import type { Http } from "@kinora/hosting"
import type { Webhook } from "@kinora/webhook-signing"
import type { Duration } from "effect"

/** See each member. */
export interface TestHostOptions {
  /** The models, as in a configuration. Default: those of the product, `kinora-sketch-1` and `kinora-canvas-1`. */
  readonly models?: ReadonlyArray<Model.ModelInput> | undefined

  /** What the first account is given. */
  readonly account?: AccountOptions | undefined

  /**
   * What becomes of a job, or of each by its request: `{ delay: "hold" }` waits for
   * `generator.succeed` or `generator.fail`. Default: it succeeds at once.
   */
  readonly script?: Script | undefined

  /**
   * Has the models made by the drivers that they name, as in production, and so the
   * default ones painted by rule. Default false: all are made by script, whatever driver they name.
   */
  readonly procedural?: boolean | undefined

  /** `virtual`, the default: time passes when the test says so. `real`: it passes by itself. */
  readonly time?: "virtual" | "real" | undefined

  /** When virtual time begins, Unix milliseconds or a date. Default 2030-01-01T00:00:00Z. */
  readonly startsAt?: number | Date | undefined

  /** Jobs at once, of all accounts. 0: none ever starts. Default 8. */
  readonly workers?: number | undefined

  /** How long results can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined

  /** What tiers allow. Default: the table of the interface. */
  readonly planTable?: PlanTable.PlanTable | undefined

  /** Limits and base URL of the HTTP interface. */
  readonly http?: Omit<Http.InterfaceOptions, "adminToken" | "resultTtl"> | undefined

  /** Where webhooks go. Default: nowhere, each is answered with 200 at once. */
  readonly webhooks?: WebhookOptions | undefined

  /** The operators' token. `null`: there is no interface for operators. Default: `defaultAdminToken`. */
  readonly adminToken?: string | null | undefined
}

/** What happens to requests. */
export type Script =
  | ScriptedGenerator.Script
  | ((request: GenerationRequest.GenerationRequest) => ScriptedGenerator.Script)

/** What becomes of webhooks. */
export interface WebhookOptions {
  /** What a send is answered with, or each by its request. Default: 200 at once. */
  readonly script?: WebhookScript | undefined
  /**
   * Sends over the network in place of the script: for tests with a receiver of their
   * own. HTTP, any port and private addresses are allowed. Default false.
   */
  readonly network?: boolean | undefined
}

/** What sends are answered with. */
export type WebhookScript = WebhookAnswer | ((request: WebhookRequest) => WebhookAnswer)

/** What a send is answered with. */
export interface WebhookAnswer {
  /** Default 200. */
  readonly status?: number | undefined
  /** `hold`: there is no answer, and the time limit of 10 seconds ends it. Default: none. */
  readonly delay?: Duration.Input | "hold" | undefined
  /** Why there is no answer; then there is no status either. */
  readonly failure?: "timeout" | "dns" | "connect" | "tls" | "blocked_address" | "protocol" | undefined
}

/** A webhook as its receiver sees it. */
export interface WebhookRequest {
  readonly url: string
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw bytes, which are signed. */
  readonly body: Uint8Array<ArrayBuffer>
  /** What the body says. */
  readonly event: Webhook.Event
  /** When it was sent. */
  readonly at: Date
}

/** What an account is given. What is left out has its default; `null` means none. */
export interface AccountOptions {
  /** Default `account-<number>@example.com`. */
  readonly email?: string | undefined
  /** Default `pro`. */
  readonly studio?: Plan.StudioTier | null | undefined
  /** Tier of the credits group, which sets limits and brings no credits. Default `pro`. */
  readonly creditsPlan?: Plan.CreditsTier | null | undefined
  /** Credits, in one lot. Default 1 000. */
  readonly credits?: number | undefined
  /** How long plans and credits last. Default 365 days. */
  readonly lasts?: Duration.Input | undefined
}

/** When virtual time begins: later than any test runs, so that nothing has expired for a client that asks its own clock. */
export const startsAt = Date.UTC(2030, 0, 1)

/** The operators' token of a host that was told none. Known to everybody, since a test host is nobody's. */
export const defaultAdminToken = "the operators of a test host have this token"

/** What links are on when nothing is said. Reserved for tests, so that it is nobody's. */
export const defaultBaseUrl = "http://kinora.test"

/** How long results can be downloaded when nothing is said. */
export const defaultResultTtl = "24 hours"
