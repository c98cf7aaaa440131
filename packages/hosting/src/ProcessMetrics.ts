/** Metrics of the process: memory, processor time and event loop. */
import { type Context, Effect, Layer, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

/** Registers the metrics until the layer's scope closes. They are read on request; the event loop is observed continuously. */
export const layer: Layer.Layer<never> = Layer.effectDiscard(Effect.gen(function*() {
  const lagMillis = yield* watchEventLoop
  yield* show(residentMemory, () => ({ value: process.memoryUsage.rss() }))
  yield* show(usedHeap, () => ({ value: process.memoryUsage().heapUsed }))
  yield* show(uptime, () => ({ value: process.uptime() }))
  yield* show(lag, () => ({ value: lagMillis() / 1000 }))
  yield* show(processorTime, () => {
    const { system, user } = process.cpuUsage()
    return { count: (system + user) / 1e6, incremental: true }
  })
}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const residentMemory = Metric.gauge("kinora_process_resident_memory_bytes", {
  description: "Resident memory of the process."
})
const usedHeap = Metric.gauge("kinora_process_heap_used_bytes", {
  description: "Used heap of the process."
})
const uptime = Metric.gauge("kinora_process_uptime_seconds", {
  description: "Time since the process started."
})
const lag = Metric.gauge("kinora_process_event_loop_lag_seconds", {
  description: "Longest delay of the event loop since the last request for metrics."
})
const processorTime = Metric.counter("kinora_process_cpu_seconds_total", {
  description: "Processor time of all threads.",
  incremental: true
})

/** Sampling interval of the event loop, in milliseconds. */
const resolution = 20

/** Observes the event loop until the scope closes. Returns a function for the longest delay since its last call. */
const watchEventLoop = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay({ resolution })
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  ),
  (delays) => () => {
    // A sample without delay is recorded as the interval.
    const millis = Math.max(0, delays.max / 1e6 - resolution)
    delays.reset()
    return millis
  }
)

/** Registers a metric that `get` computes on request. */
const show = <State>(metric: Metric.Metric<number, State>, get: () => State) =>
  Effect.acquireRelease(
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => Metric.registerUnsafe(metric, context, { get, update: ignore, modify: ignore }))
    ),
    ({ remove }) => Effect.sync(remove)
  )

const ignore = () => {}
