/** Kills hosts that publish and send webhooks, and counts what arrives: every published event, and no other. */
import { Webhooks } from "@kinora/webhooks"
import type { Delivery } from "@kinora/webhooks/Delivery"
import type { EndpointId } from "@kinora/webhooks/Endpoint"
import { Deferred, Effect, Fiber, Queue, Redacted, Schedule, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Program from "./Program.ts"
import * as Receiver from "./Receiver.ts"
import * as Receivers from "./Receivers.ts"
import * as SeededRandom from "./SeededRandom.ts"
import * as WebhookDrillHost from "./WebhookDrillHost.ts"

/** Options of a drill. */
export interface DrillOptions {
  readonly events: number
  readonly endpoints: number
  /** Number of concurrent hosts. */
  readonly hosts: number
  /** Number of kills. Each killed host is replaced. */
  readonly kills: number
  /** Seed of the random choices. */
  readonly seed: number
  /** Script that runs `WebhookDrillHost.run` on the database. */
  readonly script: (databaseUrl: string) => Program.Script
}

/** Result of a drill. */
export interface Result {
  /** Published events, and those of them that did not arrive. */
  readonly published: number
  readonly lost: number
  /** Deliveries of units that were rolled back. */
  readonly phantoms: number
  /** Received sends, and the maximum for one delivery. */
  readonly arrivals: number
  readonly arrivalsMost: number
  /** Deliveries whose sends had different bytes. */
  readonly changed: number
  /** Number of deliveries by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Deliveries without a success in the send log. */
  readonly unlogged: number
  /** Number of log entries by reason. */
  readonly reasons: Readonly<Record<string, number>>
}

/** Runs a drill on an empty Postgres. Dies if a webhook was not valid. */
export const run = Effect.fn("WebhookDrill.run")(function*(databaseUrl: string, options: DrillOptions) {
  const receivers = yield* Receivers.make()
  const receiver = yield* Effect.acquireRelease(
    Effect.promise(() => receivers.start()),
    (receiver) => Effect.promise(() => receiver[Symbol.asyncDispose]())
  )
  const drill = Effect.gen(function*() {
    yield* WebhookDrillHost.migrate
    const tally = makeTally(yield* Queue.unbounded<void>())
    const endpoints = yield* Effect.forEach(numbers(options.endpoints), (n) => listen(receiver, `account ${n}`, tally))
    const failed = yield* Deferred.make<never, Program.NotReady>()
    const start = startHost(options.script(databaseUrl), receivers.environment, failed)
    const ends = Effect.andThen(killAgainAndAgain(start, endpoints, tally, options), awaitEnds(endpoints))
    const deliveries = yield* Effect.raceFirst(ends, Deferred.await(failed))
    return yield* judge(endpoints, deliveries, tally)
  })
  return yield* Effect.provide(drill, WebhookDrillHost.layer(databaseUrl, options.events * sendsMost))
}, Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Four of the schedule, and one more after a kill. */
const sendsMost = 5

const lookEvery = Schedule.spaced("1 second")

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Sends of a delivery. */
interface Arrived {
  readonly n: number
  readonly unit: string
  readonly body: Uint8Array
  count: number
  changed: boolean
}

interface Tally {
  readonly deliveries: Map<string, Arrived>
  /** Has an element for each send. */
  readonly arrivals: Queue.Queue<void>
  readonly count: (arrival: Receiver.Arrival) => number
}

const Body = Schema.Struct({ id: Schema.String, data: Schema.Struct({ n: Schema.Int, unit: Schema.String }) })

const decode = Schema.decodeUnknownSync(Body)

const makeTally = (arrivals: Queue.Queue<void>): Tally => {
  const deliveries = new Map<string, Arrived>()
  return {
    deliveries,
    arrivals,
    count: (arrival) => {
      const { body } = arrival
      const { data, id } = decode(Receiver.jsonOf(arrival))
      const arrived = deliveries.get(id) ?? { ...data, body, count: 0, changed: false }
      arrived.count++
      arrived.changed ||= Buffer.compare(arrived.body, body) !== 0
      deliveries.set(id, arrived)
      Queue.offerUnsafe(arrivals, undefined)
      return arrived.count
    }
  }
}

interface DrillEndpoint {
  readonly account: string
  readonly id: EndpointId
}

/** Registers an endpoint that counts. One in twenty first sends fails, in one of three ways. */
const listen = Effect.fnUntraced(function*(receiver: Receiver.Receiver, account: string, tally: Tally) {
  const webhooks = yield* Webhooks.Webhooks
  const failures: ReadonlyArray<Receiver.Answer> = [{ status: 500 }, "reset", { status: 302 }]
  const inbox = receiver.inbox((arrival, n) =>
    tally.count(arrival) === 1 && n % 20 === 7 ? failures[n % failures.length] ?? "hang" : { status: 200 }
  )
  const { endpoint, secret } = yield* webhooks.create(account, { url: inbox.url })
  inbox.trust([Redacted.value(secret)])
  const made: DrillEndpoint = { account, id: endpoint.id }
  return made
})

/** Starts a host. `failed` gets the failure of one that ends by itself, so that the drill does not wait for its work. */
const startHost = (
  script: Program.Script,
  environment: Readonly<Record<string, string>>,
  failed: Deferred.Deferred<never, Program.NotReady>
) =>
  Program.startScript(script, environment).pipe(
    Effect.tap(({ ended }) =>
      Effect.forkScoped(Effect.flatMap(ended, ({ signal, stderr }) =>
        signal === "SIGKILL" ? Effect.void : Deferred.die(failed, new Error(`A host ended by itself:\n${stderr}`))))
    ),
    Effect.onError((cause) =>
      Deferred.failCause(failed, cause)
    )
  )

/** Provides events for each kill, and kills a host at a random moment. */
const killAgainAndAgain = Effect.fnUntraced(function*<E>(
  start: Effect.Effect<Program.Program, E, Scope.Scope>,
  endpoints: ReadonlyArray<DrillEndpoint>,
  { arrivals }: Tally,
  { events, hosts: count, kills, seed }: DrillOptions
) {
  const sql = yield* SqlClient.SqlClient
  const chance = SeededRandom.make(seed)
  const starting = Effect.forkScoped(start)
  const hosts = yield* Effect.all(numbers(count).map(() => starting))
  const perRound = Math.ceil(events / kills)
  for (let first = 0; first < events; first += perRound) {
    const after = Math.min(first + perRound, events)
    yield* sql`
      INSERT INTO drill_event (n, account)
      SELECT n, 'account ' || n % ${endpoints.length} FROM generate_series(${first}::int, ${after - 1}::int) AS n
    `
    yield* Queue.takeN(arrivals, chance.int(1, Math.ceil((after - first) / 2)))
    const victim = chance.int(0, hosts.length - 1)
    yield* (yield* Fiber.join(hosts[victim] ?? (yield* starting))).kill
    hosts[victim] = yield* starting
  }
})

/** Returns all deliveries once every event is published and every delivery has ended. */
const awaitEnds = Effect.fnUntraced(function*(endpoints: ReadonlyArray<DrillEndpoint>) {
  const sql = yield* SqlClient.SqlClient
  const unpublished = sql`SELECT 1 FROM drill_event WHERE unit IS NULL LIMIT 1`
  const pending = sql`SELECT 1 FROM webhooks_delivery WHERE status = 'pending' LIMIT 1`
  for (const left of [unpublished, pending]) {
    yield* Effect.repeat(left, { until: (rows) => rows.length === 0, schedule: lookEvery })
  }
  return (yield* Effect.forEach(endpoints, deliveriesOf)).flat()
})

const deliveriesOf = Effect.fnUntraced(function*({ account, id }: DrillEndpoint) {
  const webhooks = yield* Webhooks.Webhooks
  const found: Array<Delivery> = []
  while (true) {
    const page = yield* webhooks.deliveries(account, id, { limit: 100, before: found.at(-1)?.id })
    found.push(...page)
    if (page.length < 100) return found
  }
})

const judge = Effect.fnUntraced(function*(
  endpoints: ReadonlyArray<DrillEndpoint>,
  deliveries: ReadonlyArray<Delivery>,
  tally: Tally
) {
  const sql = yield* SqlClient.SqlClient
  const webhooks = yield* Webhooks.Webhooks
  const rows = yield* sql<{ readonly n: number; readonly unit: string }>`SELECT n, unit FROM drill_event`
  const unitOf = new Map(rows.map(({ n, unit }) => [n, unit]))
  const arrived = [...tally.deliveries.values()]
  const good = arrived.filter(({ n, unit }) => unitOf.get(n) === unit)
  const sends = (yield* Effect.forEach(endpoints, ({ account, id }) => webhooks.sends(account, id))).flat()
  const logged = new Set(sends.filter(({ reason }) => reason === "ok").map(({ delivery }) => delivery))
  const result: Result = {
    published: rows.length,
    lost: rows.length - new Set(good.map(({ n }) => n)).size,
    phantoms: arrived.length - good.length,
    arrivals: arrived.reduce((sum, { count }) => sum + count, 0),
    arrivalsMost: Math.max(...arrived.map(({ count }) => count)),
    changed: arrived.filter(({ changed }) => changed).length,
    statuses: countsOf(deliveries.map(({ status }) => status)),
    unlogged: deliveries.filter(({ id }) => !logged.has(id)).length,
    reasons: countsOf(sends.map(({ reason }) => reason))
  }
  return result
})

const countsOf = (names: ReadonlyArray<string>): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]))
