/** Processes that share a store. */
import { Context, Effect, Layer } from "effect"

/** Creates another process that provides a service over the surrounding store. */
export const processOf = <I, Service, Out, E, R>(service: Context.Key<I, Service>, layer: Layer.Layer<I | Out, E, R>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (services) => Context.get(services, service))
