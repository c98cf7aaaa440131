/** Members of the service `TestHost`, as effects. `RunningHost` has the same members as promises. */
import type { Accounts } from "@kinora/accounts"
import type { ScriptedGenerator } from "@kinora/generator"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { Delivery, Webhooks, WebhooksError } from "@kinora/webhooks"
import type { Effect } from "effect"
import type { HttpServerError } from "effect/http"
import type { AccountOptions, Failure, Script, WebhookRequest, WebhookScript } from "./TestHostOptions.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Controls of a test host. */
export interface Controls {
  /** Origin of in-process requests and of links. Default `http://kinora.test`; set `http.baseUrl` to change it. */
  readonly baseUrl: string
  /** Token of the admin API, for requests below `/admin/v1`: `{ apiKey: adminToken }`. */
  readonly adminToken: string
  /** The account that exists when the host starts. */
  readonly account: TestAccount
  /** Creates another account. */
  readonly createAccount: (options?: AccountOptions) => Effect.Effect<TestAccount, Accounts.Failure>
  /** `fetch` as the first account. */
  readonly fetch: Fetch
  /** The scripted generator. */
  readonly generator: GeneratorControls
  /** Endpoints of webhooks, and the sends to them. */
  readonly webhooks: WebhookControls
  /** The time of the service, which stands still until a test advances it. */
  readonly time: VirtualTime["Service"]
  /**
   * Waits until the job has ended, without moving time, and returns its final status.
   * Dies if the job does not exist, or if the host stops first.
   */
  readonly settled: (id: string) => Effect.Effect<FinalStatus, StorageError>
  /** Serves the same service on a free port of 127.0.0.1 until the host stops, and returns the base URL. Idempotent. */
  readonly listen: Effect.Effect<string, HttpServerError.ServeError>
}

/** The standard `fetch`, without a network. */
export type Fetch = (input: string | URL | Request, init?: FetchInit) => Promise<Response>

/** Options of a request. */
export interface FetchInit extends RequestInit {
  /**
   * Key to send if the headers have no `authorization`. `null` sends none.
   * Default: the key of the account whose `fetch` this is.
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

/** Status of a job that has ended. */
export type FinalStatus = "completed" | "failed" | "cancelled"

/** Controls of the scripted generator. Ids are those of jobs. */
export interface GeneratorControls {
  /** Sets the script for jobs that start from now on. */
  readonly script: (script: Script) => Effect.Effect<void>
  /** Holds jobs that start from now on until `succeed`, `fail` or their time limit. */
  readonly hold: Effect.Effect<void>
  /** Completes the job now. Ignored if the job already succeeded or failed. */
  readonly succeed: (id: string) => Effect.Effect<void>
  /** Fails the job now. Ignored if the job already succeeded or failed. */
  readonly fail: (id: string, failure?: Failure) => Effect.Effect<void>
  /** Waits until a worker has submitted the job to the generator. */
  readonly started: (id: string) => Effect.Effect<void>
  /** Calls to the generator so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<ScriptedGenerator.Call>>
}

/** Registers endpoints of webhooks, and returns the sends to them. */
export interface WebhookControls {
  /** Registers an endpoint. It needs HTTPS and a public address, unless webhooks are sent over the network. */
  readonly register: (
    endpoint: EndpointOptions
  ) => Effect.Effect<RegisteredEndpoint, WebhooksError.WebhooksError | StorageError>
  /** Sets the responses to sends from now on. Dies if webhooks are sent over the network. */
  readonly script: (script: WebhookScript) => Effect.Effect<void>
  /**
   * Returns all sends so far, oldest first. Waits, without moving time, until every due
   * send has started and at least `atLeast` sends (default 0) have ended. Dies if the
   * host stops first.
   */
  readonly sends: (atLeast?: number) => Effect.Effect<ReadonlyArray<WebhookSend>>
}

/** An endpoint to register. */
export interface EndpointOptions extends Webhooks.NewEndpoint {
  /** Id of the account whose events are sent to the endpoint. Default: the first account. */
  readonly account?: string | undefined
}

/** A registered endpoint. */
export interface RegisteredEndpoint {
  readonly id: string
  readonly url: string
  /** Secret that signs its webhooks. */
  readonly secret: string
}

/** A webhook that was sent. */
export interface WebhookSend extends WebhookRequest {
  /** `null` while the send is in progress. */
  readonly outcome: Delivery.Outcome | null
}
