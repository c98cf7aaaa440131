/** Wakes workers when jobs are queued. */
import * as Waking from "@kinora/persistence/Waking"
import { Context, Layer } from "effect"

/** Wakes the workers of this process, and those of other processes through hooks. */
export class Wakeup extends Context.Service<Wakeup, Waking.Waking>()("@kinora/scheduler/Wakeup") {}

/** Provides a wake-up with hooks to other processes, which run after each commit that queues jobs. */
export const layerWith = (options: Waking.WakingOptions): Layer.Layer<Wakeup> =>
  Layer.effect(Wakeup, Waking.make(options))

/** Provides a wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})
