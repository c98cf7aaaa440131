/** A running test host, controlled by promises. */
import type { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Clock, Context, DateTime, type Duration, Effect } from "effect"
import type {
  Controls,
  EndpointOptions,
  Fetch,
  FinalStatus,
  RegisteredEndpoint,
  TestAccount,
  WebhookSend
} from "./Controls.ts"
import type { AccountOptions, Failure, Script, WebhookScript } from "./TestHostOptions.ts"

/** A running service. `await using` stops it at the end of the block. */
export interface RunningHost extends AsyncDisposable {
  /** Origin of in-process requests and of links. Default `http://kinora.test`; set `http.baseUrl` to change it. */
  readonly baseUrl: string
  /** Key of the first account. */
  readonly apiKey: string
  /** Token of the admin API: `kinora.fetch("/admin/v1/accounts/…", { apiKey: kinora.adminToken })`. */
  readonly adminToken: string
  /** The account that exists when the host starts. */
  readonly account: TestAccount
  /** `fetch` as the first account, without a network. Paths are relative to `baseUrl`; URLs of any origin reach this host. */
  readonly fetch: Fetch
  /** Creates another account. */
  readonly createAccount: (options?: AccountOptions) => Promise<TestAccount>
  /** The time of the service, which stands still until a test advances it. */
  readonly clock: RunningClock
  /** The scripted generator. */
  readonly generator: RunningGenerator
  /** Endpoints of webhooks, and the sends to them. */
  readonly webhooks: RunningWebhooks
  /** The ledger: credits and quotas. */
  readonly ledger: RunningLedger
  /** Waits until the job has ended, without moving time, and returns its final status. Rejects if the host stops first. */
  readonly settled: (id: string) => Promise<FinalStatus>
  /** Serves the same service on a free port of 127.0.0.1 until `stop`, and returns the base URL. Idempotent. */
  readonly listen: () => Promise<string>
  /** Stops the service and releases its timers, sockets and threads. Idempotent. */
  readonly stop: () => Promise<void>
}

/** The clock of a running host. */
export interface RunningClock {
  /** The current time of the service. */
  readonly now: () => Date
  /**
   * Advances the time by a duration: `"1 minute"`, `{ hours: 24 }` or milliseconds. Due
   * work runs at its time and in order, and has ended when this returns. Rejects if
   * time is real.
   */
  readonly advance: (duration: Duration.Input) => Promise<void>
}

/** The scripted generator of a running host. Ids are those of jobs. */
export interface RunningGenerator {
  /** Sets the script for jobs that start from now on. */
  readonly script: (script: Script) => Promise<void>
  /** Holds jobs that start from now on until `succeed`, `fail` or their time limit. */
  readonly hold: () => Promise<void>
  /** Completes the job now. Ignored if the job already succeeded or failed. */
  readonly succeed: (id: string) => Promise<void>
  /** Fails the job now. Ignored if the job already succeeded or failed. */
  readonly fail: (id: string, failure?: Failure) => Promise<void>
  /** Waits until a worker has submitted the job to the generator. */
  readonly started: (id: string) => Promise<void>
  /** Returns the calls to the generator so far, oldest first. */
  readonly calls: () => Promise<ReadonlyArray<ScriptedGenerator.Call>>
}

/** The webhooks of a running host. */
export interface RunningWebhooks {
  /**
   * Registers an endpoint. It needs HTTPS and a public address, unless webhooks are sent
   * over the network. Rejects with `WebhooksError`.
   */
  readonly register: (endpoint: EndpointOptions) => Promise<RegisteredEndpoint>
  /** Sets the responses to sends from now on. Rejects if webhooks are sent over the network. */
  readonly script: (script: WebhookScript) => Promise<void>
  /**
   * Returns all sends so far, oldest first. Waits, without moving time, until every due
   * send has started and at least `atLeast` sends (default 0) have ended.
   */
  readonly sends: (atLeast?: number) => Promise<ReadonlyArray<WebhookSend>>
}

/** The ledger of a running host. */
export interface RunningLedger {
  /** Compares every stored figure with the books. `discrepancies` is empty if they agree. */
  readonly verify: () => Promise<Ledger.Verification>
  /** Returns the credits that the account can spend now, and the quota that its Studio plan used today, by kind. */
  readonly balances: (
    account: string
  ) => Promise<{ readonly credits: number; readonly quotaUsed: Readonly<Record<string, number>> }>
}

/** Makes the promise interface of a host from its controls and services. */
export const make = (
  controls: Controls,
  context: Context.Context<Ledger.Ledger>,
  close: Effect.Effect<void>
): RunningHost => {
  const run = Effect.runPromiseWith(context)
  const { generator, time, webhooks } = controls
  const ledger = Context.get(context, Ledger.Ledger)
  const clock = Context.get(context, Clock.Clock)
  let stopped: Promise<void> | undefined
  const stop = () => stopped ??= run(close)

  return {
    baseUrl: controls.baseUrl,
    apiKey: controls.account.apiKey,
    adminToken: controls.adminToken,
    account: controls.account,
    fetch: controls.fetch,
    createAccount: (options) => run(controls.createAccount(options)),
    clock: {
      now: () => new Date(clock.currentTimeMillisUnsafe()),
      advance: (duration) => run(time.advance(duration))
    },
    generator: {
      script: (script) => run(generator.script(script)),
      hold: () => run(generator.hold),
      succeed: (id) => run(generator.succeed(id)),
      fail: (id, failure) => run(generator.fail(id, failure)),
      started: (id) => run(generator.started(id)),
      calls: () => run(generator.calls)
    },
    webhooks: {
      register: (endpoint) => run(webhooks.register(endpoint)),
      script: (script) => run(webhooks.script(script)),
      sends: (atLeast) => run(webhooks.sends(atLeast))
    },
    ledger: {
      verify: () => run(ledger.verify()),
      balances: (account) => run(balances(ledger, account))
    },
    settled: (id) => run(controls.settled(id)),
    listen: () => run(controls.listen),
    stop,
    [Symbol.asyncDispose]: stop
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const balances = Effect.fnUntraced(function*(ledger: Ledger.Ledger["Service"], account: string) {
  const { credits, quotaUsed } = yield* ledger.balances(account, yield* DateTime.now)
  return { credits, quotaUsed: Object.fromEntries(quotaUsed) }
})
