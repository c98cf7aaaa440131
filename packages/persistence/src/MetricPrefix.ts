/**
 * The prefix of the names of metrics. The metrics of Kinora begin with `kinora_`; a program that embeds a package can give
 * them another prefix, or none, with `layer`.
 */
import { Context, Effect, Layer, type Metric } from "effect"

/** The prefix of the names of the metrics of packages. Default `kinora_`. */
export const MetricPrefix = Context.Reference<string>("@kinora/persistence/MetricPrefix", {
  defaultValue: () => "kinora_"
})

/** Sets the prefix. It is empty, or a letter or `_` with letters, digits and `_` behind it; the layer dies with another one. */
export const layer = (prefix: string): Layer.Layer<never> =>
  /^(?:[a-zA-Z_][a-zA-Z0-9_]*)?$/.test(prefix)
    ? Layer.succeed(MetricPrefix, prefix)
    : Layer.effectDiscard(
      Effect.die(new Error(`The prefix of metrics ${JSON.stringify(prefix)} is not one for a name`))
    )

/**
 * Returns an effect that returns the metric with the prefix of the fiber. `make` makes the metric for a prefix, once per
 * prefix:
 *
 *     const slots = MetricPrefix.prefixed((prefix) => Metric.gauge(`${prefix}worker_slots`))
 */
export const prefixed = <Input, State>(
  make: (prefix: string) => Metric.Metric<Input, State>
): Effect.Effect<Metric.Metric<Input, State>> => {
  const made = new Map<string, Metric.Metric<Input, State>>()
  return Effect.map(MetricPrefix, (prefix) => {
    const metric = made.get(prefix) ?? make(prefix)
    made.set(prefix, metric)
    return metric
  })
}
