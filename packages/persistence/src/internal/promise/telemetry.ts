/** Exporting the spans and the metrics of a promise API. */
import { Layer, Metric } from "effect"
import * as MetricPrefix from "../../MetricPrefix.ts"

/** Options of promise APIs for spans, metrics and logs. */
export interface TelemetryOptions {
  /**
   * A layer that exports spans, metrics or logs, such as `OtelTracer.layerGlobal` of `@effect/opentelemetry`, with which a
   * call is a child of the active span of OpenTelemetry. It closes with the service. Default: nothing is exported.
   */
  readonly telemetry?: Layer.Layer<never> | undefined
  /** The prefix of the names of metrics: empty, or letters, digits and `_`. Default `kinora_`. */
  readonly metricPrefix?: string | undefined
}

/**
 * Provides a layer with the tracer, the loggers and the metrics of the options, and adds these to what it provides. The
 * layer of the options can be of another copy of `effect`, so it gets the registry of the metrics.
 */
export const withTelemetry = <A, E>(
  layer: Layer.Layer<A, E>,
  { metricPrefix, telemetry = Layer.empty }: TelemetryOptions
) =>
  Layer.provideMerge(
    layer,
    metricPrefix === undefined ? telemetry : Layer.merge(telemetry, MetricPrefix.layer(metricPrefix))
  ).pipe(Layer.provideMerge(Layer.effect(Metric.MetricRegistry, Metric.MetricRegistry)))
