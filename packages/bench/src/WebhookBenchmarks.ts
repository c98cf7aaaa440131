/** Benchmarks of webhooks: throughput, and latency beside an endpoint that never responds. */
import { Effect, Schema, type Scope } from "effect"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import {
  attempt,
  type Benchmark,
  BenchmarkFailure,
  type Contestant,
  type Environment,
  type Round
} from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as GraphileWebhooks from "./GraphileWebhooks.ts"
import * as KinoraWebhooks from "./KinoraWebhooks.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as ServerProcess from "./ServerProcess.ts"
import { percentilesOf } from "./Statistics.ts"
import type { WebhookSender } from "./WebhookSender.ts"

const endpoints = 20
const backlog = 10_000
/** Very short rounds send fewer. */
const backlogOf = ({ seconds }: Environment) => Math.min(backlog, Math.ceil(backlog * seconds))
const steadyPerSecond = 100

/** All benchmarks of webhooks. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "webhooks",
    title: `Webhooks sent and logged, ${endpoints} endpoints that answer at once, from the first that arrives`,
    compares: "perSecond",
    contestants: ofSenders(throughput(endpoints))
  },
  {
    name: "webhooks-one",
    title: "The same with one endpoint",
    compares: "perSecond",
    contestants: ofSenders(throughput(1))
  },
  {
    name: "webhooks-isolation",
    title: `From the commit of an event until it arrives, ${steadyPerSecond} per second, beside another account's ` +
      `endpoint that never responds and has ${backlog.toLocaleString("en")} events waiting, and without it`,
    compares: "p99",
    contestants: isolation
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type RoundOfSender = (
  sender: WebhookSender,
  receiver: Receiver,
  environment: Environment
) => Effect.Effect<Round, BenchmarkFailure, Scope.Scope>

interface Receiver {
  readonly origin: string
  /** Returns the arrival time of each event that arrived since the last call. */
  readonly arrivals: Effect.Effect<ReadonlyMap<number, number>, BenchmarkFailure>
  /** Requests below `/never` get no response until the scope closes; then senders can stop at once. */
  readonly hold: Effect.Effect<void, BenchmarkFailure, Scope.Scope>
}

const makeReceiver: Effect.Effect<Receiver, BenchmarkFailure, Scope.Scope> = Effect.map(
  ServerProcess.make({ module: join(import.meta.dirname, "webhookReceiver.ts"), args: [], environment: {} }),
  ({ origin }) => {
    const get = (path: string) =>
      attempt("The receiver does not respond", async () => (await fetch(`${origin}${path}`)).text())
    return {
      origin,
      arrivals: get("/arrivals").pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Arrivals))),
        Effect.mapError((cause) => new BenchmarkFailure({ what: "The receiver does not respond", cause })),
        Effect.map((arrivals) => new Map(arrivals))
      ),
      hold: Effect.asVoid(Effect.acquireRelease(get("/hold"), () => Effect.ignore(get("/release"))))
    }
  }
)

const Arrivals = Schema.Array(Schema.Tuple([Schema.Int, Schema.Number]))

const makers = [KinoraWebhooks.make, GraphileWebhooks.makeTuned, GraphileWebhooks.makeDefault]

function ofSenders(round: RoundOfSender): Benchmark["contestants"] {
  return Effect.fnUntraced(function*(environment) {
    const receiver = yield* makeReceiver
    const made = yield* Effect.forEach([...makers, KinoraWebhooks.makeCompleting], (make) => make(environment))
    return made.map((sender) => ({ name: sender.name, round: round(sender, receiver, environment) }))
  })
}

/** Each sender beside the endpoint that never responds, and alone. The first is compared with all others. */
function isolation(environment: Environment) {
  return Effect.gen(function*() {
    const receiver = yield* makeReceiver
    const made = yield* Effect.forEach(makers, (make) => make(environment))
    return made.flatMap((sender): ReadonlyArray<Contestant> => [
      { name: `${sender.name}, beside it`, round: latency(backlogOf(environment))(sender, receiver, environment) },
      { name: `${sender.name}, alone`, round: latency(0)(sender, receiver, environment) }
    ])
  })
}

/** From the first arrival to the commit that logs the last. */
function throughput(endpoints: number): RoundOfSender {
  return Effect.fnUntraced(function*(sender, receiver, environment) {
    const { seconds, tidy } = environment
    const count = Math.ceil(seconds * sender.perSecond)
    yield* sender.empty
    const numbers = range(endpoints)
    yield* sender.register(numbers.map((n) => `${receiver.origin}/ok/${n}`))
    yield* publishAll(sender, count, numbers)
    yield* tidy(sender.database)
    const times = yield* Costs.start(environment)
    yield* sender.send
    yield* isDone(sender)
    const ended = Callers.now()
    const costs = yield* times(count)
    const arrivals = yield* receiver.arrivals
    if (arrivals.size !== count) return yield* new BenchmarkFailure({ what: `${arrivals.size} of ${count} arrived` })
    return { perSecond: count * 1000 / (ended - Math.min(...arrivals.values())), ...costs }
  })
}

/** Publishes events at a constant rate, whether or not earlier ones have arrived. */
function latency(backlog: number): RoundOfSender {
  return Effect.fnUntraced(function*(sender, receiver, { seconds, tidy }) {
    yield* sender.empty
    yield* sender.register([`${receiver.origin}/ok`, `${receiver.origin}/never`])
    if (backlog > 0) yield* publishAll(sender, backlog, [1])
    yield* tidy(sender.database)
    yield* sender.send
    // Ends before the sender.
    yield* receiver.hold
    const count = Math.max(10, Math.ceil(seconds * steadyPerSecond))
    const committed: Array<number> = []
    const began = Callers.now()
    yield* Effect.forEach(
      range(count),
      (n) =>
        Effect.sleep(Math.max(0, began + n * 1000 / steadyPerSecond - Callers.now())).pipe(
          Effect.andThen(Effect.tap(sender.publish([n], [0]), () =>
            Effect.sync(() => {
              committed[n] = Callers.now()
            })))
        ),
      { discard: true }
    )
    const published = Callers.now()
    const arrivals = new Map<number, number>()
    // Beside the endpoint that never responds, events may never arrive. Short rounds wait less for them.
    const patience = backlog > 0 ? Math.min(patienceMillis, 1_000 + seconds * 1000) : patienceMillis
    while (arrivals.size < count && Callers.now() < published + patience) {
      for (const [n, at] of yield* receiver.arrivals) arrivals.set(n, at)
      yield* Effect.sleep("20 millis")
    }
    const ended = Callers.now()
    const latencies = committed.map((at, n) => Math.max(0, (arrivals.get(n) ?? ended) - at))
    return { perSecond: arrivals.size * 1000 / (ended - began), ...percentilesOf(latencies) }
  })
}

/** Maximum time to wait for an event. A missing event counts as arrived at its end. */
const patienceMillis = 5_000

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

const eventsPerSet = 1_000

const publishAll = (sender: WebhookSender, count: number, endpoints: ReadonlyArray<number>) =>
  Effect.forEach(
    range(Math.ceil(count / eventsPerSet)),
    (set) => sender.publish(range(count).slice(set * eventsPerSet, (set + 1) * eventsPerSet), endpoints),
    { discard: true }
  )

const isDone = (sender: WebhookSender) =>
  attempt("The deliveries could not be sampled", () =>
    PostgresServer.withClient(sender.database, async (client) => {
      for (;;) {
        const { rows: [row] } = await client.query<{ done: boolean }>(sender.isDone)
        if (row?.done === true) return
        // Frequent enough to be exact, rare enough not to slow the sender.
        await pause(10)
      }
    }))
