/** The background work of a process: the worker that runs generations, and the sweeps. */
import { Accounts } from "@kinora/accounts"
import { Model } from "@kinora/catalog"
import { AccountDeletion, Checkouts, GenerationSweep, GenerationWorker, PlanRenewal } from "@kinora/generations"
import { AuditActions } from "@kinora/http-server"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { AuditLog } from "@kinora/operators"
import { Payments } from "@kinora/payments"
import { TypeId } from "@kinora/persistence"
import { Limits } from "@kinora/rate-limit"
import { Worker } from "@kinora/scheduler"
import { Sessions } from "@kinora/sessions"
import { Webhooks } from "@kinora/webhooks"
import { Data, type Duration, Effect, Layer } from "effect"

/** Options for `layerWorker`. */
export interface WorkOptions {
  /** Name of the worker in logs and tables. */
  readonly name: string
  /** Maximum number of jobs that run at the same time; 0: none. */
  readonly concurrency: number
  /** Slots that the jobs of one account leave to other accounts. Default 0. */
  readonly reserved?: number | undefined
  /** Models whose jobs it claims. Default: all models of the catalog whose driver it has. */
  readonly models?: ReadonlyArray<string> | undefined
  /** See `GenerationWorker.makeHandler`. Default: upstreams are polled only. */
  readonly callbackUrlOf?: GenerationWorker.GenerationWorkerOptions["callbackUrlOf"]
  /** Maximum number of results whose images are decoded at the same time. Default 2. */
  readonly derivedMax?: number | undefined
  /** How long a result can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined
  /** How long running jobs may continue when the process shuts down. Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
  /** How often the worker looks for jobs without a notification. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** Time until other workers take over the jobs of a worker that does not renew its lease. Default 8 seconds. */
  readonly lease?: Duration.Input | undefined
}

/** A worker was given models that it cannot run. Stops the start. */
export class UnknownWorkerModels extends Data.TaggedError("UnknownWorkerModels")<{
  readonly unknown: ReadonlyArray<string>
  readonly runnable: ReadonlyArray<string>
}> {
  override get message(): string {
    return `KINORA_WORKER_MODELS names models that this process cannot run: ${this.unknown.join(", ")}. ` +
      `It can run: ${this.runnable.join(", ")}`
  }
}

/** Ids of workers in lists of operators. */
const WorkerId = TypeId.define("wrk", "WorkerId")

/** A worker that claims and runs the generations of its models until its scope closes, then drains. */
export const layerWorker = ({ callbackUrlOf, derivedMax, models, resultTtl, ...options }: WorkOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const runnable = yield* GenerationWorker.runnableModels
    const known = new Set(runnable.flatMap(Model.ids))
    const unknown = (models ?? []).filter((model) => !known.has(model))
    if (unknown.length > 0) {
      return yield* new UnknownWorkerModels({ unknown, runnable: runnable.map(({ id }) => id) })
    }
    // A worker that restarts under its name has its own id.
    const id = yield* WorkerId.make
    const handler = yield* GenerationWorker.makeHandler({ callbackUrlOf, derivedMax, models, resultTtl, worker: id })
    return Worker.layer({ ...options, id, handlers: [handler] })
  }))

/** Starts the drain of the worker without waiting for its end. Closing its layer waits for it. */
export const startDrain = Effect.map(Worker.Worker, ({ drain }) => Effect.asVoid(Effect.forkDetach(drain)))

/** How long rows are kept that would otherwise grow without limit. `Duration.infinity`: forever. */
export interface Retention {
  /** Jobs after their end, at least 2 days. Default 90 days. */
  readonly jobs?: Duration.Input | undefined
  /** Usage of a day. Default 731 days. */
  readonly usage?: Duration.Input | undefined
  /** API keys after their revocation. Default 90 days. */
  readonly revokedKeys?: Duration.Input | undefined
  /** Entries of the audit log. Default 731 days. */
  readonly audit?: Duration.Input | undefined
  /** Entries of failed sign-ins in the audit log. Default 90 days. */
  readonly failedSignIns?: Duration.Input | undefined
  /** Data of accounts after their deletion, at least 2 days. Default 30 days. */
  readonly deletedAccounts?: Duration.Input | undefined
  /** Payments after their end. Default 731 days. */
  readonly payments?: Duration.Input | undefined
}

/** The sweeps of all packages. Any number of hosts may run them: each row is handled once. */
export const layerSweeps = (
  {
    audit = "731 days",
    deletedAccounts,
    failedSignIns = "90 days",
    jobs,
    payments = "731 days",
    revokedKeys,
    usage
  }: Retention = {}
) =>
  Layer.mergeAll(
    Accounts.layerSweep({ revokedKeysKept: revokedKeys }),
    AccountDeletion.layerSweep({ kept: deletedAccounts }),
    AuditLog.layerSweep({ entriesKept: audit }),
    AuditLog.layerSweep({ entriesKept: failedSignIns, action: AuditActions.failedSignIn }),
    Checkouts.layerSweep(),
    Payments.layerSweep({ settledKept: payments }),
    PlanRenewal.layerSweep(),
    GenerationSweep.layerSweep({ jobsKept: jobs, usageKept: usage }),
    Ledger.layerSweep({ interval: "5 minutes" }),
    Sessions.layerSweep(),
    Webhooks.layerSweep(),
    Idempotency.layerSweep({ interval: "5 minutes", limit: 500 }),
    Limits.layerSweep({ interval: "5 minutes" })
  )
