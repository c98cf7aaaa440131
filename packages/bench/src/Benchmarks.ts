/** Every benchmark, in the order of the report. */
import type { Benchmark } from "./Benchmark.ts"
import * as ChargeBenchmarks from "./ChargeBenchmarks.ts"
import * as ContentBenchmarks from "./ContentBenchmarks.ts"
import * as EventLoopBenchmarks from "./EventLoopBenchmarks.ts"
import * as HttpBenchmarks from "./HttpBenchmarks.ts"
import * as LimitBenchmarks from "./LimitBenchmarks.ts"
import * as MediaBenchmarks from "./MediaBenchmarks.ts"
import * as NeighbourBenchmarks from "./NeighbourBenchmarks.ts"
import * as QueueBenchmarks from "./QueueBenchmarks.ts"
import * as WebhookBenchmarks from "./WebhookBenchmarks.ts"

/** All benchmarks. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  ...HttpBenchmarks.benchmarks,
  ...ContentBenchmarks.benchmarks,
  ...QueueBenchmarks.benchmarks,
  ...ChargeBenchmarks.benchmarks,
  ...LimitBenchmarks.benchmarks,
  ...WebhookBenchmarks.benchmarks,
  ...EventLoopBenchmarks.benchmarks,
  ...MediaBenchmarks.benchmarks,
  ...NeighbourBenchmarks.benchmarks
]
