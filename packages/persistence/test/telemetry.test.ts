/** Promise APIs with the tracer and the meters of OpenTelemetry. */
import * as OtelMetrics from "@effect/opentelemetry/OtelMetrics"
import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { context, trace } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import { MetricReader } from "@opentelemetry/sdk-metrics"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer, Metric, Tracer } from "effect"
import * as MetricPrefix from "../src/MetricPrefix.ts"
import { make } from "../src/promise.ts"
import * as UnitOfWork from "../src/UnitOfWork.ts"

const exporter = new InMemorySpanExporter()

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
})

afterAll(() => {
  trace.disable()
  context.disable()
})

class Reader extends MetricReader {
  protected override onForceFlush = async () => {}
  protected override onShutdown = async () => {}
}

const layers = { memory: UnitOfWork.layerMemory, postgres: UnitOfWork.layerMemory }

const lamps = Metric.counter("test_lamps")

const bulbs = MetricPrefix.prefixed((prefix) => Metric.counter(`${prefix}bulbs_total`))

const light = Effect.yieldNow.pipe(
  Effect.withSpan("Lamp.warm"),
  Effect.andThen(Metric.update(lamps, 1)),
  Effect.withSpan("Lamp.light")
)

const never = (failure: never): Error => failure

it("exports calls as children of the active span", async () => {
  const service = await make(layers, { memory: true, telemetry: OtelTracer.layerGlobal })
  exporter.reset()
  const [first, second] = await Promise.all(
    ["first", "second"].map((name) =>
      trace.getTracer("program").startActiveSpan(name, async (span) => {
        await Promise.resolve()
        await service.run(light, {}, never)
        span.end()
        return span.spanContext()
      })
    )
  )
  await service.close()
  const spans = exporter.getFinishedSpans()
  const lights = spans.filter(({ name }) => name === "Lamp.light")
  const parents = lights.map(({ parentSpanContext }) => parentSpanContext?.spanId)
  assert.sameMembers(parents, [first?.spanId, second?.spanId])
  const warm = spans.filter(({ name }) => name === "Lamp.warm").map(({ parentSpanContext }) =>
    parentSpanContext?.spanId
  )
  assert.sameMembers(warm, lights.map((span) => span.spanContext().spanId))
})

it("exports metrics", async () => {
  const reader = new Reader()
  const metrics = OtelMetrics.layer(() => reader).pipe(Layer.provide(Resource.layer({ serviceName: "program" })))
  const service = await make(layers, { memory: true, telemetry: metrics })
  await service.run(light, {}, never)
  const { resourceMetrics } = await reader.collect()
  await service.close()
  const names = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name))
  assert.include(names, "test_lamps")
})

it("gives metrics the prefix of the service, and services without one kinora_", async () => {
  const count = Effect.flatMap(bulbs, (bulbs) => Metric.update(bulbs, 1))
  const names: Array<string> = []
  for (const metricPrefix of [undefined, "lamps_", ""]) {
    const reader = new Reader()
    const telemetry = OtelMetrics.layer(() => reader).pipe(Layer.provide(Resource.layer({ serviceName: "program" })))
    const service = await make(layers, { memory: true, telemetry, metricPrefix })
    await service.run(count, {}, never)
    const { resourceMetrics } = await reader.collect()
    await service.close()
    names.push(
      ...resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name))
    )
  }
  assert.includeMembers(names, ["kinora_bulbs_total", "lamps_bulbs_total", "bulbs_total"])
})

it("rejects a prefix that is not one for a name", async () => {
  for (const metricPrefix of ["1_", "a-", "a b", "é"]) {
    const error = await make(layers, { memory: true, metricPrefix }).catch(String)
    assert.strictEqual(error, `Error: The prefix of metrics ${JSON.stringify(metricPrefix)} is not one for a name`)
  }
})

it("provides the layer of a service with the tracer, and closes it with the service", async () => {
  const names: Array<string> = []
  const tracer = Layer.effect(
    Tracer.Tracer,
    Effect.acquireRelease(
      Effect.map(Tracer.Tracer, (native) =>
        Tracer.make({
          span: (options) => {
            names.push(options.name)
            return native.span(options)
          }
        })),
      () => Effect.sync(() => names.push("closed"))
    )
  )
  const built = Layer.effectDiscard(Effect.withSpan(Effect.void, "Lamp.build")).pipe(
    Layer.merge(UnitOfWork.layerMemory)
  )
  const service = await make({ memory: built, postgres: built }, { memory: true, telemetry: tracer })
  await service.run(light, {}, never)
  await service.close()
  assert.deepStrictEqual(names, ["Lamp.build", "Lamp.light", "Lamp.warm", "closed"])
})

it("rejects if telemetry cannot start", async () => {
  const broken = Layer.effectDiscard(Effect.die(new Error("no collector")))
  const error = await make(layers, { memory: true, telemetry: broken }).catch(String)
  assert.strictEqual(error, "Error: no collector")
})
