/** Tells workers that there may be work. */
import * as Waking from "@kinora/persistence/Waking"
import { Context, Layer } from "effect"

/** Wakes the workers of this process, and of others through hooks. */
export class Wakeup extends Context.Service<Wakeup, Waking.Waking>()("@kinora/scheduler/Wakeup") {}

/** A wake-up with hooks to other processes, which are told of each commit that queued jobs. */
export const layerWith = (options: Waking.WakingOptions): Layer.Layer<Wakeup> =>
  Layer.effect(Wakeup, Waking.make(options))

/** A wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})
