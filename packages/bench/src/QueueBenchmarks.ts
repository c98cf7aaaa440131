/** Benchmarks of claiming and completing jobs, of caps, and of the delay until a job starts. */
import { Effect, Latch, type Scope } from "effect"
import type { Client } from "pg"
import { attempt, type Benchmark, type BenchmarkFailure, type Environment, type Round } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as GraphileQueue from "./GraphileQueue.ts"
import { cap, type JobQueue } from "./JobQueue.ts"
import * as KinoraQueue from "./KinoraQueue.ts"
import * as PgBossQueue from "./PgBossQueue.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { percentilesOf } from "./Statistics.ts"

const groups = 100
const blockedJobs = 20_000
const groupsOfCaps = 4

/** All benchmarks of queues. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "claim",
    title: `Jobs claimed and completed, ${groups} groups with a cap of ${cap}, in batches`,
    compares: "perSecond",
    contestants: ofQueues([KinoraQueue.make, GraphileQueue.make, PgBossQueue.make], throughput(0))
  },
  {
    name: "blocked",
    title: `The same beside a tenant with ${blockedJobs.toLocaleString("en")} jobs that wait for its cap`,
    compares: "perSecond",
    contestants: ofQueues([KinoraQueue.make, PgBossQueue.make], throughput(blockedJobs))
  },
  {
    name: "caps",
    title:
      `Looks at the database that found a cap of ${cap} exceeded, ${groupsOfCaps} groups, 16 who take one job at a time`,
    compares: "overCap",
    contestants: ofQueues([KinoraQueue.make, PgBossQueue.make], exactness())
  },
  {
    name: "start",
    title: "From the enqueuing of a job to its start, one job at a time",
    compares: "p50",
    contestants: ofQueues([KinoraQueue.make, GraphileQueue.make, PgBossQueue.make], latency())
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type RoundOfQueue = (
  queue: JobQueue,
  environment: Environment
) => Effect.Effect<Round, BenchmarkFailure, Scope.Scope>

function ofQueues(
  queues: ReadonlyArray<(environment: Environment) => Effect.Effect<JobQueue, BenchmarkFailure, Scope.Scope>>,
  round: RoundOfQueue
): Benchmark["contestants"] {
  return (environment) =>
    Effect.map(
      Effect.forEach(queues, (make) => make(environment)),
      (queues) => queues.map((queue) => ({ name: queue.name, round: round(queue, environment) }))
    )
}

/** Approximate throughput of each contestant in jobs per second. It determines the number of jobs of a round. */
const jobsPerSecond = { free: 4_000, blocked: 1_000 } as const

/** From the start of the first job to the commit that ends the last. */
function throughput(blocked: number): RoundOfQueue {
  return Effect.fnUntraced(function*(queue, environment) {
    const { seconds, tidy } = environment
    const jobs = Math.ceil(seconds * (blocked > 0 ? jobsPerSecond.blocked : jobsPerSecond.free))
    yield* queue.empty
    // Very short rounds have fewer.
    if (blocked > 0) yield* queue.block(Math.min(blocked, Math.ceil(blocked * seconds)))
    yield* queue.fill(jobs, groups)
    yield* tidy(queue.database)
    const times = yield* Costs.start(environment)
    const allRun = Latch.makeUnsafe(false)
    let began = 0
    let count = 0
    yield* queue.workInBatches(() => {
      if (count === 0) began = Callers.now()
      if (++count === jobs) allRun.openUnsafe()
    })
    yield* allRun.await
    yield* withClient(queue, async (client) => {
      while (!await ask(client, queue.isDone, "done"));
    })
    const perSecond = jobs * 1000 / (Callers.now() - began)
    return { perSecond, ...yield* times(jobs) }
  })
}

/** Samples the database continuously while jobs run. */
function exactness(): RoundOfQueue {
  return Effect.fnUntraced(function*(queue, { seconds, tidy }) {
    yield* queue.empty
    yield* queue.fill(Math.ceil(seconds * 2_000), groupsOfCaps)
    yield* tidy(queue.database)
    const ran = { jobs: 0 }
    yield* queue.workSingly(() => {
      ran.jobs++
    })
    return yield* withClient(queue, async (client): Promise<Round> => {
      const began = Callers.now()
      let looks = 0
      let over = 0
      // On a busy machine, a worker may need longer than a short round to start its first job.
      while (Callers.now() < began + seconds * 1000 || ran.jobs === 0) {
        if (await ask(client, queue.isOverCap, "over")) over++
        looks++
      }
      return { perSecond: ran.jobs * 1000 / (Callers.now() - began), overCap: over / looks }
    })
  })
}

/** Enqueues the next job when the previous one has started. */
function latency(): RoundOfQueue {
  return Effect.fnUntraced(function*(queue, environment) {
    const { seconds, tidy } = environment
    yield* queue.empty
    yield* tidy(queue.database)
    const started = Latch.makeUnsafe(false)
    let startedAt = 0
    yield* queue.workPromptly(() => {
      startedAt = Callers.now()
      started.openUnsafe()
    })
    const latencies: Array<number> = []
    const times = yield* Costs.start(environment)
    const deadline = Callers.now() + seconds * 1000
    while (Callers.now() < deadline) {
      started.closeUnsafe()
      const began = Callers.now()
      yield* queue.add
      yield* started.await
      latencies.push(startedAt - began)
    }
    return { perSecond: latencies.length / seconds, ...percentilesOf(latencies), ...yield* times(latencies.length) }
  })
}

const withClient = <A>(queue: JobQueue, use: (client: Client) => Promise<A>) =>
  attempt("The queue could not be sampled", () => PostgresServer.withClient(queue.database, use))

const ask = async (client: Client, statement: string, column: string): Promise<boolean> => {
  const { rows: [row] } = await client.query<Record<string, boolean>>(statement)
  return row?.[column] === true
}
