/** Tells delivery workers that there may be something to send. */
import * as Waking from "@kinora/persistence/Waking"
import { Context, Layer } from "effect"

/** Wakes the delivery workers of this process, and of others through hooks. */
export class Wakeup extends Context.Service<Wakeup, Waking.Waking>()("@kinora/webhooks/Wakeup") {}

/** A wake-up with hooks to other processes, which are told of each commit that published events. */
export const layerWith = (options: Waking.WakingOptions): Layer.Layer<Wakeup> =>
  Layer.effect(Wakeup, Waking.make(options))

/** A wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})
