/** The background work of a process: the worker that runs generations, and the sweeps. */
import { GenerationSweep, GenerationWorker, PlanRenewal } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Worker } from "@kinora/scheduler"
import { Webhooks } from "@kinora/webhooks"
import { DateTime, type Duration, Effect, Layer } from "effect"
import * as Sweeper from "./Sweeper.ts"

/** Options for `layerWorker`. */
export interface WorkOptions {
  /** Name of the worker in logs and tables. */
  readonly name: string
  /** Maximum number of jobs that run at the same time; 0: none. */
  readonly concurrency: number
  /** How long a result can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined
  /** How long running jobs may continue when the process shuts down. Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
  /** How often the worker looks for jobs without a notification. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** How long a job stays claimed without a heartbeat. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
}

/** A worker that claims and runs generations until its scope closes, then drains. */
export const layerWorker = ({ resultTtl, ...options }: WorkOptions) =>
  Layer.unwrap(
    Effect.map(
      GenerationWorker.makeHandler({ resultTtl }),
      (handler) => Worker.layer({ ...options, handlers: [handler] })
    )
  )

/** Starts the drain of the worker without waiting for its end, which closing its layer does. */
export const startDrain = Effect.map(Worker.Worker, ({ drain }) => Effect.asVoid(Effect.forkDetach(drain)))

/** The sweeps of all packages, with these options. */
export const layerSweepsWith = Effect.fnUntraced(function*(options: Sweeper.SweeperOptions) {
  const budgets = yield* Budget.Budget
  const generations = yield* GenerationSweep.GenerationSweep
  const idempotency = yield* Idempotency.Idempotency
  const ledger = yield* Ledger.Ledger
  const places = yield* Places.Places
  const plans = yield* PlanRenewal.PlanRenewal
  const rateLimit = yield* RateLimit.RateLimit
  const webhooks = yield* Webhooks.Webhooks

  const expireCredits = Effect.fnUntraced(function*(limit: number) {
    const { lots } = yield* ledger.expire({ at: yield* DateTime.now, limit })
    return lots
  })

  return Sweeper.layer([
    // Half of the time by which plans are renewed before their period ends.
    { name: "plans whose period ends", every: "20 seconds", run: plans.renew },
    { name: "jobs that waited too long", every: "1 minute", run: generations.dropStale },
    { name: "jobs of withdrawn models", every: "1 minute", run: generations.dropWithdrawn },
    { name: "expired results", every: "5 minutes", run: generations.expireResults },
    { name: "unused images", every: "5 minutes", run: generations.dropImages },
    { name: "idempotency keys", every: "5 minutes", run: idempotency.sweep },
    { name: "expired credits", every: "5 minutes", run: expireCredits },
    { name: "ended webhook deliveries", every: "5 minutes", run: webhooks.sweep },
    { name: "webhook secrets sealed with an old key", every: "5 minutes", run: webhooks.reseal },
    { name: "rate limit counters", every: "5 minutes", run: rateLimit.sweep },
    { name: "concurrency places of stopped processes", every: "5 minutes", run: places.sweep },
    { name: "budgets of past days", every: "1 hour", run: budgets.sweep }
  ], options)
}, Layer.unwrap)

/** The sweeps of all packages. */
export const layerSweeps = layerSweepsWith({})
