/** Benchmarks of the same server with few and with many stored jobs. */
import { Effect, Latch } from "effect"
import {
  attempt,
  type Benchmark,
  type BenchmarkFailure,
  type Contestant,
  type Environment,
  type Round
} from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as HttpContestants from "./HttpContestants.ts"
import { cap } from "./JobQueue.ts"
import * as KinoraQueue from "./KinoraQueue.ts"
import * as KinoraServer from "./KinoraServer.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as StoredJobs from "./StoredJobs.ts"

const connections = HttpContestants.defaultConnections

/** Numbers of stored jobs. Very short rounds, as in tests, have fewer. */
const sizesOf = ({ seconds }: Environment) => [1_000, seconds < 0.5 ? 2_000 : 1_000_000]

/** All benchmarks of sizes. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "size-create",
    title: `Jobs created over HTTP beside stored ones, ${connections} connections`,
    compares: "perSecond",
    contestants: ofServers(({ environment, server }) => HttpContestants.make(server, environment).creates)
  },
  {
    name: "size-get",
    title: `Random ones of the stored jobs read over HTTP, ${connections} connections`,
    compares: "perSecond",
    contestants: ofServers((filled) =>
      sending(
        filled,
        Effect.map(filled.stored.sample(sampled), (ids) => (account, n) => {
          const own = ids[account]!
          return `/v1/generations/${own[n % own.length]}`
        })
      )
    )
  },
  {
    name: "size-list",
    title: `First pages of the jobs of ${StoredJobs.accountCount} accounts, 20 jobs each, ${connections} connections`,
    compares: "perSecond",
    contestants: ofServers((filled) => sending(filled, Effect.succeed(() => "/v1/generations")))
  },
  {
    name: "size-list-filtered",
    title:
      `First pages of 1 job with a status and a kind, of which an account has a tenth or more, ${connections} connections`,
    compares: "perSecond",
    contestants: ofServers((filled) =>
      sending(
        filled,
        Effect.succeed((_, n) =>
          `/v1/generations?limit=1&${n % 2 === 0 ? "status=failed&kind=image" : "status=completed&kind=video"}`
        )
      )
    )
  },
  {
    name: "size-claim",
    title: `Jobs claimed and completed as in **claim**, while the others wait for a slot`,
    compares: "perSecond",
    contestants: (environment) => Effect.forEach(sizesOf(environment), (size) => claims(environment, size))
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A server with stored jobs. */
interface Filled {
  readonly environment: Environment
  readonly server: KinoraServer.KinoraServer
  readonly stored: StoredJobs.StoredJobs
}

const nameOf = (size: number): string => `kinora, ${size.toLocaleString("en")} jobs`

function ofServers(contestant: (filled: Filled) => Contestant): Benchmark["contestants"] {
  return (environment) =>
    Effect.forEach(sizesOf(environment), (size) =>
      Effect.gen(function*() {
        const server = yield* KinoraServer.make(environment, { workers: 0 })
        const stored = yield* StoredJobs.make(server, size)
        return contestant({ environment, server: { ...server, name: nameOf(size) }, stored })
      }))
}

/** Number of jobs that a round reads, over and over. */
const sampled = 10_000

/** More than any server responds to. */
const perSecondMax = 10_000

/** Sends requests of all accounts in turns, with new keys in each round, since a key has a limit of requests per minute. */
const sending = (
  { environment, server, stored: { accounts } }: Filled,
  paths: Effect.Effect<(account: number, n: number) => string, BenchmarkFailure>
): Contestant => {
  const keysPerAccount = Math.ceil(
    environment.seconds * perSecondMax / HttpContestants.requestsPerKey / accounts.length
  )
  const requestsOf: HttpContestants.RequestsOf = () =>
    Effect.gen(function*() {
      const pathOf = yield* paths
      const keys = yield* Effect.replicateEffect(server.makeFurtherKeys(accounts), keysPerAccount)
      return Array.from({ length: keysPerAccount * HttpContestants.requestsPerKey }, (_, n) =>
        accounts.map((_, account) => ({
          method: "GET" as const,
          path: pathOf(account, n),
          headers: { authorization: `Bearer ${keys[n % keysPerAccount]![account]}` }
        }))).flat()
    })
  return HttpContestants.makeCounted(server, environment, { status: 200, requestsOf, connections })
}

const groups = 100

/** Approximate throughput in jobs per second. It determines the number of jobs of a round. */
const jobsPerSecond = 4_000

/** Before each round, as many jobs are added as it completes. It ends when the last of as many has started. */
const claims = Effect.fnUntraced(function*(environment: Environment, size: number) {
  const { seconds, tidy } = environment
  const queue = yield* KinoraQueue.make(environment)
  const { database } = queue
  yield* queue.fill(groups * cap, groups)
  yield* KinoraQueue.addPending(database, size - groups * cap, groups)
  const jobs = Math.ceil(seconds * jobsPerSecond)
  const stored = attempt("The jobs could not be counted", () =>
    PostgresServer.withClient(database, async (client) => {
      const { rows: [row] } = await client.query<{ count: string }>("SELECT count(*) FROM scheduler_job")
      return Number(row?.count)
    }))
  const round = Effect.gen(function*() {
    yield* queue.fill(size + jobs - (yield* stored), groups)
    yield* tidy(database)
    const times = yield* Costs.start(environment)
    const allStarted = Latch.makeUnsafe(false)
    let began = 0
    let ended = 0
    let count = 0
    yield* queue.workInBatches(() => {
      if (count === 0) began = Callers.now()
      if (++count !== jobs) return
      ended = Callers.now()
      allStarted.openUnsafe()
    })
    yield* allStarted.await
    const figures: Round = { perSecond: jobs * 1000 / (ended - began), ...yield* times(jobs) }
    return figures
  })
  return { name: nameOf(size), round }
})
