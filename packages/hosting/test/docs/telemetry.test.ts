/** The sections "Telemetry" of the READMEs of packages that other services embed. */
import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Fiber, Latch, Option, Tracer } from "effect"
import { code, expectTables } from "./Page.ts"
import * as TelemetryNames from "./TelemetryNames.ts"

const packages = ["api-keys", "idempotency", "ledger", "persistence", "rate-limit", "scheduler", "storage", "webhooks"]

/** The unit of a metric, which its name ends with, or `1` for a number of things. */
const unitOf = (name: string): string => name.endsWith("_seconds") ? "seconds" : "1"

describe("the section Telemetry", () => {
  for (const name of packages) {
    it.effect(`of ${name} lists every span and every metric of the sources`, () =>
      Effect.gen(function*() {
        const { metrics, spans } = yield* Effect.promise(() => TelemetryNames.read(name))
        assert.isAbove(spans.length, 2)
        yield* expectTables(`../packages/${name}/README.md`, {
          spans: {
            head: ["span", "attributes"],
            rows: spans.map(({ attributes, name }) => [code(name), attributes.map(code).join(", ")])
          },
          ...metrics.length === 0 ? {} : {
            metrics: {
              head: ["metric", "type", "unit", "attributes", "buckets"],
              rows: metrics.map(({ attributes, boundaries, name, type }) => [
                code(name),
                type,
                unitOf(name),
                attributes.map(code).join(", "),
                boundaries.join(", ")
              ])
            }
          }
        })
      }))
  }
})

describe("the reader of sources", () => {
  it("finds names in every position", () => {
    const { spans } = TelemetryNames.inSource(
      `Effect.fn("A.call")(f)
       Effect.withSpan(effect, "A.effect")
       effect.pipe(Effect.withSpan("A.pipe", { root: true, attributes: { kind, attempt: 1 } }))
       Folding.make({ name: "A.set", run })
       folded("A.wrapped", run)`,
      "a/src/A.ts"
    )
    assert.deepStrictEqual(spans, [
      { name: "A.call", attributes: [] },
      { name: "A.effect", attributes: [] },
      { name: "A.pipe", attributes: ["kind", "attempt"] },
      { name: "A.set", attributes: ["members"] },
      { name: "A.wrapped", attributes: ["members"] }
    ])
  })

  it("finds metrics with their attributes", () => {
    const { metrics } = TelemetryNames.inSource(
      `const sizes = Metric.histogram("a_seconds", { boundaries: [1, 2.5], attributes: { kind: "b" } })
       Metric.update(Metric.withAttributes(sizes, { outcome }), 1)`,
      "a/src/A.ts"
    )
    assert.deepStrictEqual(metrics, [
      { name: "a_seconds", type: "histogram", attributes: ["kind", "outcome"], boundaries: [1, 2.5] }
    ])
  })

  it("finds metrics whose names have the prefix of the program", () => {
    const { metrics } = TelemetryNames.inSource(
      "const slots = MetricPrefix.prefixed((prefix) => Metric.gauge(`${prefix}slots`, { description }))",
      "a/src/A.ts"
    )
    assert.deepStrictEqual(metrics, [{ name: "kinora_slots", type: "gauge", attributes: [], boundaries: [] }])
  })

  it("fails if a name is computed", () => {
    for (
      const source of [
        "Effect.fn(name)(f)",
        "effect.pipe(Effect.withSpan(name))",
        "Folding.make({ name, run })",
        "Effect.annotateCurrentSpan({ key })",
        "const sizes = Metric.counter(name)",
        "const sizes = Metric.counter(`${prefix}sizes`)",
        "const sizes = MetricPrefix.prefixed((prefix) => Metric.counter(`${prefix}${name}`))",
        `run(Metric.counter("a_total"))`
      ]
    ) assert.throws(() => TelemetryNames.inSource(source, "a/src/A.ts"), Error, undefined, source)
  })
})

it.effect("concurrent calls share the span of their set below the first caller's, and calls in transactions have none", () =>
  Effect.gen(function*() {
    const started: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        started.push(span)
        return span
      }
    })
    /** Spans with their members and the names of their parents, without those of the callers. */
    const spans = () =>
      started.filter(({ name }) => !name.startsWith("request")).map(({ attributes, name, parent }) => {
        const above = Option.getOrUndefined(parent)
        return [name, attributes.get("members"), above?._tag === "Span" ? above.name : undefined]
      })
    const ledger = yield* Ledger.Ledger
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const at = yield* DateTime.now
    const amount = { _tag: "Quota", kind: "renders", limit: 10 } as const
    const charge = (reference: string) =>
      ledger.charge({ account: "ada", reference, amount, at }).pipe(Effect.withSpan(`request ${reference}`))
    // A unit is open, so the first set waits, and the next one collects the other calls.
    const [opened, end] = [yield* Latch.make(), yield* Latch.make()]
    yield* Effect.forkChild(atomically(Effect.andThen(opened.open, end.await)))
    yield* opened.await
    const charges = yield* Effect.all([charge("first"), charge("second"), charge("third")], { concurrency: 3 }).pipe(
      Effect.withTracer(tracer),
      Effect.forkChild({ startImmediately: true })
    )
    yield* end.open
    yield* Fiber.join(charges)
    const sets = [["Ledger.charge", 1, "request first"], ["Ledger.charge", 2, "request second"]]
    assert.deepStrictEqual(spans(), sets)
    yield* atomically(charge("fourth")).pipe(Effect.withTracer(tracer))
    assert.deepStrictEqual(spans(), sets)
    const none = yield* ledger.chargeAll([]).pipe(Effect.withSpan("request all"), Effect.withTracer(tracer))
    assert.deepStrictEqual(none, [])
    assert.deepStrictEqual(spans().slice(2), [["Ledger.chargeAll", undefined, "request all"]])
  }).pipe(Effect.provide(Ledger.layerMemory)))
