/**
 * Makes a request take effect once, however often it is sent.
 *
 * A claim is a row that commits together with the work that it guards, so there is no
 * intermediate state to recover after a crash. A concurrent repetition waits for the unit
 * of work of the first request and then replays it.
 */
import * as Backend from "@kinora/persistence/Backend"
import * as Deletion from "@kinora/persistence/Deletion"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import * as Sweep from "@kinora/persistence/Sweep"
import * as UnitOfWork from "@kinora/persistence/UnitOfWork"
import { Context, type Data, Effect, Layer } from "effect"
import type * as Claim from "./Claim.ts"
import { IdempotencyError, KeyReused } from "./IdempotencyError.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import * as Claims from "./internal/claims.ts"
import * as MemoryIdempotencyStore from "./MemoryIdempotencyStore.ts"
import * as SqlIdempotencyStore from "./SqlIdempotencyStore.ts"

/** Result of `once`: the result of the work, or the reference of the earlier request. */
export type Once<A> = Data.TaggedEnum<{
  Done: { readonly value: A }
  Replay: { readonly reference: string }
}>

/** Options for the layers. */
export interface IdempotencyOptions {
  /** How long claims hold. */
  readonly windows?: Claim.Windows | undefined
}

/** A command to forget a scope. */
export interface ForgetCommand {
  /** The scope, exactly. Scopes that begin with it are others. */
  readonly scope: string
  /** The maximum number of claims in one unit of work, 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined
}

/** Claims requests. Sets may have any order and repetitions; results are in the order of the set. */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * Looks up a request without claiming it, to replay it before anything is spent on it.
   * Only `claimAll` and `once` decide. Concurrent calls share one statement.
   */
  readonly find: (request: Claim.Request) => Effect.Effect<Claim.Found, StorageError>

  /** `find` for a set. */
  readonly findAll: (
    requests: ReadonlyArray<Claim.Request>
  ) => Effect.Effect<ReadonlyArray<Claim.Found>, StorageError>

  /**
   * Claims each request for its reference in the caller's unit of work. Call it before
   * anything else in the unit, since it takes the first locks. Replaces expired claims.
   * Waits while another unit is claiming one of the keys. Fails with `InProgress`, and
   * the unit with it, after the `lock_timeout` of the database. The outermost unit then
   * runs again, for up to 2 seconds.
   */
  readonly claimAll: (
    claims: ReadonlyArray<Claim.Claim>
  ) => Effect.Effect<ReadonlyArray<Claim.Outcome>, IdempotencyError | StorageError>

  /**
   * Frees keys that are claimed for exactly these references: in the unit of `claimAll`, those
   * of requests that were refused after all; later, those whose result no longer counts.
   */
  readonly release: (claims: ReadonlyArray<Claim.Claim>) => Effect.Effect<void, StorageError>

  /**
   * Restarts the window of a claim without a key now, also if it has expired.
   * Does nothing if the key belongs to another reference now, or if the claim has a key.
   */
  readonly extend: (claim: Claim.Claim) => Effect.Effect<void, StorageError>

  /**
   * Claims the request and runs `work` in one unit of work, or returns the reference of the
   * earlier request. Fails with `KeyReused` if the key belongs to a request with another
   * body. If `work` fails, the key is free again.
   */
  readonly once: <A, E, R>(
    claim: Claim.Claim,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<Once<A>, E | IdempotencyError | StorageError, R>

  /**
   * Deletes all claims and stored responses of a scope, for example because a person asks for it. Returns their number.
   * Waits for units that have locked one of them. Works in sets of `limit` claims, each a unit of work of its own, or all in
   * the transaction of the caller. If a call ends early, another one continues. Idempotent.
   *
   * A repetition of an earlier request takes effect again after it. A request that is claimed by a unit that is open
   * meanwhile stays, so end the use of the scope first. A request of `Responses` that runs loses its lease (`LeaseLost`).
   */
  readonly forget: (command: ForgetCommand) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` expired claims and returns their number. `layerSweep` calls it at an interval. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/idempotency/Idempotency") {}

const make = Effect.fnUntraced(function*({ windows = {} }: IdempotencyOptions) {
  const store = yield* IdempotencyStore
  const { atomically } = yield* UnitOfWork.UnitOfWork

  const findAll = Effect.fn("Idempotency.findAll")(function*(requests: ReadonlyArray<Claim.Request>) {
    if (requests.length === 0) return []
    const held = yield* store.find(sorted(requests.map(Claims.slotOf)))
    const heldBySlot = new Map(held.map((held) => [Claims.slotText(held), held]))
    return requests.map((request) => Claims.find(request, heldBySlot.get(Claims.slotText(Claims.slotOf(request)))))
  })

  const find = yield* Folding.make({ name: "Idempotency.find", membersMax: 256, setsMax: 4, run: findAll })

  const claimAll = Effect.fn("Idempotency.claimAll")(
    function*(claims: ReadonlyArray<Claim.Claim>) {
      if (claims.length === 0) return []
      return Claims.outcomesOf(claims, yield* store.claim(sorted(claims.map(arrivingOf))))
    },
    atomically
  )

  const release = Effect.fn("Idempotency.release")(function*(claims: ReadonlyArray<Claim.Claim>) {
    if (claims.length > 0) yield* store.release(sorted(claims.map(arrivingOf)))
  })

  const extendAll = (claims: ReadonlyArray<Claim.Claim>) => {
    const rounds = Claims.extensionRoundsOf(claims.map(arrivingOf))
    // Locks are taken in the first round only, since each slot of a later round is also in the first.
    const extended = Effect.forEach(rounds, (round) => store.extend(sorted(round)), { discard: true })
    return Effect.as(rounds.length > 1 ? atomically(extended) : extended, claims.map(() => undefined))
  }
  const extendFolded = yield* Folding.make({
    name: "Idempotency.extend",
    keyOf: ({ scope }: Claim.Claim) => scope,
    run: extendAll
  })
  const extend = Effect.fn("Idempotency.extend")((claim: Claim.Claim) =>
    claim.key._tag === "Implicit" ? Effect.asVoid(extendFolded(claim)) : Effect.void
  )

  const once = Effect.fn("Idempotency.once")(
    function*<A, E, R>(claim: Claim.Claim, work: Effect.Effect<A, E, R>) {
      const [outcome] = yield* claimAll([claim])
      switch (outcome?._tag) {
        case "Replay":
          return { _tag: "Replay", reference: outcome.reference } satisfies Once<A>
        case "Reused":
          return yield* new IdempotencyError({ reason: new KeyReused() })
        default:
          return { _tag: "Done", value: yield* work } satisfies Once<A>
      }
    },
    atomically
  )

  const forget = Effect.fn("Idempotency.forget")(({ limit, scope }: ForgetCommand) =>
    Deletion.inSets({ name: "Idempotency.forget", limit, run: (limit) => atomically(store.forget(scope, limit)) })
  )

  const sweep = Effect.fn("Idempotency.sweep")((limit: number) => store.sweep(limit))

  const arrivingOf = (claim: Claim.Claim) => Claims.arrivingOf(claim, windows)

  return Idempotency.of({ find, findAll, claimAll, release, extend, once, forget, sweep })
})

/** Provides idempotency over a store, with options. */
export const layerWith = (
  options: IdempotencyOptions
): Layer.Layer<Idempotency, never, IdempotencyStore | UnitOfWork.UnitOfWork> => Layer.effect(Idempotency, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<Idempotency, never, IdempotencyStore | UnitOfWork.UnitOfWork> = layerWith({})

/** Provides idempotency in the memory of this process, for tests and single processes. */
export const layerMemory: Backend.MemoryLayer<Idempotency> = layer.pipe(Backend.memory(MemoryIdempotencyStore.layer))

/** Provides idempotency in Postgres or PGlite. Brings the table up to date when the layer is built. */
export const layerPostgres = (
  { schema, ...options }: IdempotencyOptions & Backend.SchemaOptions = {}
): Backend.PostgresLayer<Idempotency> =>
  layerWith(options).pipe(Backend.postgres(Backend.inSchema(SqlIdempotencyStore, schema)))

/**
 * Deletes expired claims in the background, at random intervals around `interval` (default
 * 1 minute), `limit` claims per statement (default 1,000). Logs failures and continues. Any
 * number of hosts may run it.
 */
export const layerSweep = Sweep.make({
  name: "expired idempotency claims",
  interval: "1 minute",
  limit: 1_000,
  run: (limit) => Idempotency.use(({ sweep }) => sweep(limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The first claim of each slot, in the order in which every unit takes its locks. */
const sorted = <A extends Claims.Slot>(claims: ReadonlyArray<A>): ReadonlyArray<A> => {
  const bySlot = new Map<string, A>()
  for (const claim of claims) {
    const slot = Claims.slotText(claim)
    if (!bySlot.has(slot)) bySlot.set(slot, claim)
  }
  return [...bySlot].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, claim]) => claim)
}
