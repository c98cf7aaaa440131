/** What a test can do with its service, for those who use Effect. `RunningHost` is the same for all others. */
import type { Accounts } from "@kinora/accounts"
import type { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { Delivery, Webhooks, WebhooksError } from "@kinora/webhooks"
import type { Effect } from "effect"
import type { HttpServerError } from "effect/http"
import type { AccountOptions, Script, WebhookRequest, WebhookScript } from "./TestHostOptions.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** See each member. */
export interface Controls {
  /** What in-process requests are sent to, and links are on, unless `http.baseUrl` says otherwise. */
  readonly baseUrl: string
  /** The operators' token, for requests below `/admin/v1`: `{ apiKey: adminToken }`. */
  readonly adminToken: string
  /** The account that every host begins with. */
  readonly account: TestAccount
  /** Makes another account. */
  readonly createAccount: (options?: AccountOptions) => Effect.Effect<TestAccount, Accounts.Failure>
  /** `fetch` as the first account. */
  readonly fetch: Fetch
  /** The scripted generator. */
  readonly generator: GeneratorControls
  /** What was sent as webhooks. */
  readonly webhooks: WebhookControls
  /** Time, which stands still until it is advanced. */
  readonly time: VirtualTime["Service"]
  /**
   * How the job ended, once it has. Waits without moving time. A job that does not
   * exist, and a host that stops first, are defects.
   */
  readonly settled: (id: string) => Effect.Effect<FinalStatus, StorageError>
  /** Serves the same service on a free port of 127.0.0.1, until the host stops. Answers with the base URL; again, with the same. */
  readonly listen: Effect.Effect<string, HttpServerError.ServeError>
}

/** The standard `fetch` without a network. */
export type Fetch = (input: string | URL | Request, init?: FetchInit) => Promise<Response>

/** What a request is told. */
export interface FetchInit extends RequestInit {
  /**
   * The key that is sent when the headers have no `authorization`; `null`: none.
   * Default: that of the account whose `fetch` it is.
   */
  readonly apiKey?: string | null | undefined
}

/** An account of a test. */
export interface TestAccount {
  readonly id: string
  readonly email: string
  readonly apiKey: string
  /** `fetch` as this account. Paths are relative to the host's base URL; an absolute URL stays in this process too. */
  readonly fetch: Fetch
}

/** How a job ends. */
export type FinalStatus = "completed" | "failed" | "cancelled"

/** Tells the scripted generator what to do. */
export interface GeneratorControls {
  /** What becomes of jobs that start from now on. */
  readonly script: (script: Script) => Effect.Effect<void>
  /** Jobs that start from now on wait until `succeed`, `fail` or their time limit. */
  readonly hold: Effect.Effect<void>
  /** The job succeeds now. The first decision about a job stands. */
  readonly succeed: (id: string) => Effect.Effect<void>
  /** The job fails now. The first decision about a job stands. */
  readonly fail: (id: string, failure?: Failure) => Effect.Effect<void>
  /** Waits until a worker has handed the job to the generator. */
  readonly started: (id: string) => Effect.Effect<void>
  /** What the generator was asked so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<ScriptedGenerator.Call>>
}

/** Why a job fails. What is left out has its default. */
export interface Failure {
  /** Default `generation_failed`. */
  readonly code?: GeneratorError.FailureCode | undefined
  /** Default `provider`. */
  readonly reason?: GeneratorError.FailureReason | undefined
  /** Shown to the client. */
  readonly message?: string | undefined
}

/** Registers receivers of webhooks, and shows what they got. */
export interface WebhookControls {
  /** Registers an endpoint, by the rules of the product: HTTPS and a public address, unless it is sent over the network. */
  readonly register: (
    endpoint: EndpointOptions
  ) => Effect.Effect<RegisteredEndpoint, WebhooksError.WebhooksError | StorageError>
  /** What sends are answered with from now on. A defect where they go over the network. */
  readonly script: (script: WebhookScript) => Effect.Effect<void>
  /**
   * Everything that was sent so far, oldest first. Waits without moving time until all
   * that is due was sent, and until as many have ended as `atLeast` says, default 0. A
   * host that stops first is a defect.
   */
  readonly sends: (atLeast?: number) => Effect.Effect<ReadonlyArray<WebhookSend>>
}

/** What to register. */
export interface EndpointOptions extends Webhooks.NewEndpoint {
  /** The id of the account whose events are sent there. Default: the first account's. */
  readonly account?: string | undefined
}

/** An endpoint of a test. */
export interface RegisteredEndpoint {
  readonly id: string
  readonly url: string
  /** What its webhooks are signed with. */
  readonly secret: string
}

/** A webhook that was sent. */
export interface WebhookSend extends WebhookRequest {
  /** `null` while it waits for an answer. */
  readonly outcome: Delivery.Outcome | null
}
