/** What the process says of itself beside what its services count (D49). */
import { type Context, Effect, Layer, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

/** Shown with the other metrics for as long as the layer lives. Looked at when somebody asks, but for the event loop. */
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
  description: "Memory of the process."
})
const usedHeap = Metric.gauge("kinora_process_heap_used_bytes", {
  description: "Memory that the objects of the program take."
})
const uptime = Metric.gauge("kinora_process_uptime_seconds", {
  description: "Time since the process started."
})
const lag = Metric.gauge("kinora_process_event_loop_lag_seconds", {
  description: "The longest that anything had to wait for the event loop since this was last asked."
})
const processorTime = Metric.counter("kinora_process_cpu_seconds_total", {
  description: "Processor time of all threads.",
  incremental: true
})

/** How often the event loop is looked at. */
const resolution = 20

/** Watches until the scope closes. Answers with how late the loop was at worst since the last answer. */
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
    // A look that came in time is recorded as the whole time since the one before.
    const millis = Math.max(0, delays.max / 1e6 - resolution)
    delays.reset()
    return millis
  }
)

/** Asks `get` whenever the metrics are shown. */
const show = <State>(metric: Metric.Metric<number, State>, get: () => State) =>
  Effect.acquireRelease(
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => Metric.registerUnsafe(metric, context, { get, update: ignore, modify: ignore }))
    ),
    ({ remove }) => Effect.sync(remove)
  )

const ignore = () => {}
