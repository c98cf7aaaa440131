/** What makes a process work: a worker for generations, and the sweeps. */
import { GenerationSweep, GenerationWorker, PlanRenewal } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Worker } from "@kinora/scheduler"
import { Webhooks } from "@kinora/webhooks"
import { DateTime, type Duration, Effect, Layer } from "effect"
import * as Sweeper from "./Sweeper.ts"

/** What the worker of a process is told. */
export interface WorkOptions {
  /** Its name, for people. */
  readonly name: string
  /** Jobs at once; 0: none. */
  readonly concurrency: number
  /** How long a result can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined
  /** How long running jobs may go on when the process stops (D51). Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
  /** How often it looks for work that nobody told it about. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** How long its jobs are safe from other workers without a heartbeat. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
}

/** A worker that claims and runs generations until its scope closes, and then drains. */
export const layerWorker = ({ resultTtl, ...options }: WorkOptions) =>
  Layer.unwrap(
    Effect.map(
      GenerationWorker.makeHandler({ resultTtl }),
      (handler) => Worker.layer({ ...options, handlers: [handler] })
    )
  )

/** Begins the drain of the worker, and does not wait for its end: closing its layer does. */
export const startDrain = Effect.map(Worker.Worker, ({ drain }) => Effect.asVoid(Effect.forkDetach(drain)))

/** Ends what nobody else ends, and deletes what nobody needs any more. */
export const layerSweepsWith = Effect.fnUntraced(function*(options: Sweeper.SweeperOptions) {
  const generations = yield* GenerationSweep.GenerationSweep
  const idempotency = yield* Idempotency.Idempotency
  const ledger = yield* Ledger.Ledger
  const limits = yield* RateLimit.RateLimit
  const places = yield* Places.Places
  const budgets = yield* Budget.Budget
  const plans = yield* PlanRenewal.PlanRenewal
  const webhooks = yield* Webhooks.Webhooks
  return Sweeper.layer([
    // Twice as often as plans are renewed ahead of their end.
    { name: "plans whose period ends", every: "20 seconds", run: plans.renew },
    { name: "jobs that waited too long", every: "1 minute", run: generations.dropStale },
    { name: "jobs of withdrawn models", every: "1 minute", run: generations.dropWithdrawn },
    { name: "expired results", every: "5 minutes", run: generations.expireResults },
    { name: "images that nobody needs any more", every: "5 minutes", run: generations.dropImages },
    { name: "idempotency keys", every: "5 minutes", run: idempotency.sweep },
    {
      name: "expired credits",
      every: "5 minutes",
      run: Effect.fnUntraced(function*(limit: number) {
        return (yield* ledger.expire({ at: yield* DateTime.now, limit })).lots
      })
    },
    { name: "webhooks that are over", every: "5 minutes", run: webhooks.sweep },
    { name: "secrets of webhooks", every: "5 minutes", run: webhooks.reseal },
    { name: "counters of limits", every: "5 minutes", run: limits.sweep },
    { name: "places of lost processes", every: "5 minutes", run: places.sweep },
    { name: "budgets of past days", every: "1 hour", run: budgets.sweep }
  ], options)
}, Layer.unwrap)

/** `layerSweepsWith` with its defaults. */
export const layerSweeps = layerSweepsWith({})
