/** Notification of delivery workers about new deliveries. */
import * as Waking from "@kinora/persistence/Waking"
import { Context, Layer } from "effect"

/** Wakes the delivery workers of this process, and of other processes through hooks. */
export class Wakeup extends Context.Service<Wakeup, Waking.Waking>()("@kinora/webhooks/Wakeup") {}

/** Provides a wake-up with hooks to other processes, which run after each commit that published events. */
export const layerWith = (options: Waking.WakingOptions): Layer.Layer<Wakeup> =>
  Layer.effect(Wakeup, Waking.make(options))

/** Provides a wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})
