/** What a test can do with its service, in promises. */
import type { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Clock, Context, DateTime, type Duration, Effect } from "effect"
import type {
  Controls,
  EndpointOptions,
  Failure,
  Fetch,
  FinalStatus,
  RegisteredEndpoint,
  TestAccount,
  WebhookSend
} from "./Controls.ts"
import type { AccountOptions, Script, WebhookScript } from "./TestHostOptions.ts"

/** A running service. `await using` stops it too. */
export interface RunningHost extends AsyncDisposable {
  /** What in-process requests are sent to, and links are on, unless `http.baseUrl` says otherwise. */
  readonly baseUrl: string
  /** The first account's key. */
  readonly apiKey: string
  /** The operators' token: `kinora.fetch("/admin/v1/accounts/…", { apiKey: kinora.adminToken })`. */
  readonly adminToken: string
  /** The account that every host begins with. */
  readonly account: TestAccount
  /** `fetch` as the first account, without a network. Paths are relative to `baseUrl`; other origins lead here too. */
  readonly fetch: Fetch
  /** Makes another account. */
  readonly createAccount: (options?: AccountOptions) => Promise<TestAccount>
  /** Time, which stands still until it is advanced. */
  readonly clock: RunningClock
  /** The scripted generator. */
  readonly generator: RunningGenerator
  /** What was sent as webhooks. */
  readonly webhooks: RunningWebhooks
  /** The books. */
  readonly ledger: RunningLedger
  /** How the job ended, once it has. Waits without moving time, and rejects when the host stops first. */
  readonly settled: (id: string) => Promise<FinalStatus>
  /** Serves the same service on a free port of 127.0.0.1, until `stop`. Answers with the base URL; again, with the same. */
  readonly listen: () => Promise<string>
  /** Stops the service; nothing of it is left. Again waits for the same end. */
  readonly stop: () => Promise<void>
}

/** The clock of a running host. */
export interface RunningClock {
  /** The time that the service has. */
  readonly now: () => Date
  /**
   * Lets this much time pass: `"1 minute"`, `{ hours: 24 }` or milliseconds. What is
   * due on the way happens at its moment and in order, and is over when this
   * returns. Rejects where time is real.
   */
  readonly advance: (duration: Duration.Input) => Promise<void>
}

/** The scripted generator of a running host. Ids are those of jobs. */
export interface RunningGenerator {
  /** What becomes of jobs that start from now on. */
  readonly script: (script: Script) => Promise<void>
  /** Jobs that start from now on wait until `succeed`, `fail` or their time limit. */
  readonly hold: () => Promise<void>
  /** The job succeeds now. The first decision about a job stands. */
  readonly succeed: (id: string) => Promise<void>
  /** The job fails now. The first decision about a job stands. */
  readonly fail: (id: string, failure?: Failure) => Promise<void>
  /** Waits until a worker has handed the job to the generator. */
  readonly started: (id: string) => Promise<void>
  /** What the generator was asked so far, oldest first. */
  readonly calls: () => Promise<ReadonlyArray<ScriptedGenerator.Call>>
}

/** The webhooks of a running host. */
export interface RunningWebhooks {
  /**
   * Registers an endpoint, by the rules of the product: HTTPS and a public address,
   * unless it is sent over the network. Rejects with `WebhooksError`.
   */
  readonly register: (endpoint: EndpointOptions) => Promise<RegisteredEndpoint>
  /** What sends are answered with from now on. Rejects where they go over the network. */
  readonly script: (script: WebhookScript) => Promise<void>
  /**
   * Everything that was sent so far, oldest first. Waits without moving time until all
   * that is due was sent, and until as many have ended as `atLeast` says, default 0.
   */
  readonly sends: (atLeast?: number) => Promise<ReadonlyArray<WebhookSend>>
}

/** The books of a running host. */
export interface RunningLedger {
  /** Compares the books with the figures kept beside them; `discrepancies` is empty when all is sound. */
  readonly verify: () => Promise<Ledger.Verification>
  /** Credits that the account can spend now, and what its Studio plan was charged today, by kind. */
  readonly balances: (
    account: string
  ) => Promise<{ readonly credits: number; readonly quotaUsed: Readonly<Record<string, number>> }>
}

/** Runs the controls of a host on its services. */
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
