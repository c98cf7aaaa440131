/**
 * Clients that create, repeat, await and cancel jobs concurrently, on peers that share a database. Jobs of one model
 * fail. Few accounts are used, so that requests conflict.
 */
import { Generations } from "@kinora/generations"
import { isFinal } from "@kinora/generations/Generation"
import { Clock, Duration, Effect, Layer, Random } from "effect"
import * as Books from "./Books.ts"
import type { Order } from "./Client.ts"
import * as Drill from "./Drill.ts"
import * as Peer from "./Peer.ts"
import type { Site } from "./Site.ts"

/** Options of a load. */
export interface MixedLoadOptions {
  readonly duration: Duration.Input
  /** Number of clients over all peers. */
  readonly clients: number
  /** Default 2. */
  readonly peers?: number
  /** Default 8. */
  readonly accounts?: number
}

/** Counts by name: `created`, `replayed`, `cancelled`, final statuses of jobs, and refusals. */
export type Tally = Readonly<Record<string, number>>

/** Models that the site of a load needs. */
export const models = [
  Drill.model({ id: "drill-quick" }),
  Drill.model({ id: "drill-slow", delay: "200 millis" }),
  Drill.model({ id: "drill-bad", failure: "generation_failed" })
]

/** Runs the load and returns when every job has ended. */
export const run = Effect.fn("MixedLoad.run")(function*(site: Site, options: MixedLoadOptions) {
  const { accounts: accountsCount = 8, clients, peers: peersCount = 2 } = options
  // Sequential, because the first peer runs the migrations.
  const peers = yield* Effect.forEach(
    Array.from({ length: peersCount }),
    () => Layer.build(Peer.layer(site, { workers: 4 }))
  )
  const [first] = peers
  if (first === undefined) return yield* Effect.die(new Error("A load needs a peer"))
  const accounts = yield* Effect.provide(
    Books.openAccounts(accountsCount, { credits: 100_000, tier: "business", studio: "scale" }),
    first
  )
  const started = yield* Clock.currentTimeMillis
  const until = started + Duration.toMillis(Duration.fromInputUnsafe(options.duration))
  const tally: Record<string, number> = {}
  const client = makeClient(accounts.map(({ id }) => id), until, (what) => {
    tally[what] = (tally[what] ?? 0) + 1
  })
  yield* Effect.forEach(
    Array.from({ length: clients }, (_, n) => peers[n % peers.length] ?? first),
    (peer, n) => Effect.provide(client(n), peer),
    { concurrency: clients, discard: true }
  )
  const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
  const result: { readonly tally: Tally; readonly seconds: number } = { tally, seconds }
  return result
}, Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Repeats a call until the database has time for it, as clients of the HTTP API do after 503. */
const whileUnavailable = (error: { readonly _tag: string; readonly isRetryable?: boolean }) =>
  error._tag === "StorageError" && error.isRetryable === true

/** Acts until the time is over, then awaits the end of its jobs. */
const makeClient = (accounts: ReadonlyArray<string>, until: number, count: (what: string) => void) =>
  Effect.fnUntraced(function*(n: number) {
    const generations = yield* Generations.Generations
    const open: Array<{ readonly account: string; readonly id: string }> = []

    const cancel = (account: string, id: string) =>
      generations.cancel(account, id).pipe(
        Effect.retry({ while: whileUnavailable }),
        Effect.map(() => count("cancelled")),
        Effect.catchTag("GenerationError", (error) => Effect.sync(() => count(Peer.reasonOf(error))))
      )

    const create = (account: string, order: Order) =>
      Peer.create(account, order).pipe(
        Effect.retry({ while: whileUnavailable }),
        Effect.map(({ generation, replayed }) => {
          count(replayed ? "replayed" : "created")
          if (!replayed) open.push({ account, id: generation.id })
          return generation.id
        }),
        Effect.catchTag("GenerationError", (error) => Effect.sync(() => count(Peer.reasonOf(error))))
      )

    const awaitEnd = ({ account, id }: typeof open[number]) =>
      generations.wait(account, id, "10 seconds").pipe(
        Effect.retry({ while: whileUnavailable }),
        Effect.repeat({ until: ({ status }) => isFinal(status) }),
        Effect.map(({ status }) => count(`ended ${status}`))
      )

    for (let round = 0; (yield* Clock.currentTimeMillis) < until; round++) {
      const account = yield* Random.choice(accounts)
      const order: Order = {
        model: (yield* Random.choice(models)).id,
        plan: yield* Random.choice(["studio", "credits"] as const),
        idempotencyKey: `client ${n}, round ${round}`
      }
      const id = yield* create(account, order)
      if (id === undefined) continue
      const next = yield* Random.nextIntBetween(0, 4)
      if (next === 0) yield* cancel(account, id)
      if (next === 1) yield* Effect.all([create(account, order), cancel(account, id)], { concurrency: 2 })
      if (next === 2) yield* Effect.forEach(open.splice(0), awaitEnd, { concurrency: "unbounded", discard: true })
    }
    yield* Effect.forEach(open, awaitEnd, { concurrency: "unbounded", discard: true })
  })
