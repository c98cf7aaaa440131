/** Exporting the spans and the metrics of a promise API. */
import { Layer } from "effect"

/** Option of promise APIs for spans, metrics and logs. */
export interface TelemetryOptions {
  /**
   * A layer that exports spans, metrics or logs, such as `OtelTracer.layerGlobal` of `@effect/opentelemetry`, with which a
   * call is a child of the active span of OpenTelemetry. It closes with the service. Default: nothing is exported.
   */
  readonly telemetry?: Layer.Layer<never> | undefined
}

/** Provides a layer with the tracer, the loggers and the metrics of the options, and adds these to what it provides. */
export const withTelemetry = <A, E>(layer: Layer.Layer<A, E>, { telemetry = Layer.empty }: TelemetryOptions) =>
  Layer.provideMerge(layer, telemetry)
