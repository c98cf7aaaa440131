/** The background work of a process: the worker that runs generations, and the sweeps. */
import { GenerationSweep, GenerationWorker, PlanRenewal } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Limits } from "@kinora/rate-limit"
import { Worker } from "@kinora/scheduler"
import { Webhooks } from "@kinora/webhooks"
import { type Duration, Effect, Layer } from "effect"

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

/** The sweeps of all packages. Any number of hosts may run them: each row is handled once. */
export const layerSweeps = Layer.mergeAll(
  PlanRenewal.layerSweep(),
  GenerationSweep.layerSweep(),
  Ledger.layerSweep({ interval: "5 minutes" }),
  Webhooks.layerSweep(),
  Idempotency.layerSweep({ interval: "5 minutes", limit: 500 }),
  Limits.layerSweep({ interval: "5 minutes" })
)
