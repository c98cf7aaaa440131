/** Every benchmark, in the order of the report. */
import type { Benchmark } from "./Benchmark.ts"
import * as BootBenchmarks from "./BootBenchmarks.ts"
import * as ChargeBenchmarks from "./ChargeBenchmarks.ts"
import * as ContentBenchmarks from "./ContentBenchmarks.ts"
import * as EventLoopBenchmarks from "./EventLoopBenchmarks.ts"
import * as HttpBenchmarks from "./HttpBenchmarks.ts"
import * as LimitBenchmarks from "./LimitBenchmarks.ts"
import * as MediaBenchmarks from "./MediaBenchmarks.ts"
import * as NeighbourBenchmarks from "./NeighbourBenchmarks.ts"
import * as ProcessesBenchmarks from "./ProcessesBenchmarks.ts"
import * as QueueBenchmarks from "./QueueBenchmarks.ts"
import * as SizeBenchmarks from "./SizeBenchmarks.ts"
import * as WaitingBenchmarks from "./WaitingBenchmarks.ts"
import * as WebhookBenchmarks from "./WebhookBenchmarks.ts"

/** A benchmark of a group. */
export interface GroupedBenchmark extends Benchmark {
  /** A name on the command line that runs all benchmarks of the group, which have a table in common. */
  readonly group: string
}

/** All benchmarks. */
export const benchmarks: ReadonlyArray<GroupedBenchmark> = Object.entries({
  http: HttpBenchmarks.benchmarks,
  waiting: WaitingBenchmarks.benchmarks,
  processes: ProcessesBenchmarks.benchmarks,
  downloads: ContentBenchmarks.benchmarks,
  jobs: QueueBenchmarks.benchmarks,
  charges: ChargeBenchmarks.benchmarks,
  limits: LimitBenchmarks.benchmarks,
  deliveries: WebhookBenchmarks.benchmarks,
  sizes: SizeBenchmarks.benchmarks,
  boots: BootBenchmarks.benchmarks,
  "event-loop": EventLoopBenchmarks.benchmarks,
  media: MediaBenchmarks.benchmarks,
  neighbours: NeighbourBenchmarks.benchmarks
}).flatMap(([group, benchmarks]) => benchmarks.map((benchmark) => ({ ...benchmark, group })))
