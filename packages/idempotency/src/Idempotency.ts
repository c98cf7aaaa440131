/**
 * Lets a request take effect once, however often it is sent.
 *
 * A claim is a row that commits with the work it guards, so there is no state "in
 * progress" to recover: either both are there or neither is. A concurrent
 * repetition waits for the first one's unit of work and then replays it.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, type Data, DateTime, Effect, Layer } from "effect"
import * as Claim from "./Claim.ts"
import { IdempotencyError, KeyReused } from "./IdempotencyError.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"

/** What `once` answers: the work's own result, or where to find that of the first request. */
export type Once<A> = Data.TaggedEnum<{
  Done: { readonly value: A }
  Replay: { readonly reference: string }
}>

/** What idempotency can be told. */
export interface IdempotencyOptions {
  /** How long claims hold. */
  readonly windows?: Claim.Windows | undefined
}

/** Claims of requests. Sets may have any order and repetitions; results come in the order of the set. */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * What is known of a request. A cheap look before anything is spent on it: only
   * `claimAll` decides. Concurrent calls are one statement.
   */
  readonly find: (request: Claim.Request) => Effect.Effect<Claim.Found, StorageError>

  /** `find` for a set. */
  readonly findAll: (
    requests: ReadonlyArray<Claim.Request>
  ) => Effect.Effect<ReadonlyArray<Claim.Found>, StorageError>

  /**
   * Claims each request for its reference, in the caller's unit: the first thing
   * that it does, since it takes the first locks. A window that is over is taken
   * over. Waits while another unit holds one of the keys; fails with `InProgress`
   * once the database's `lock_timeout` has passed, and the unit with it.
   */
  readonly claimAll: (
    claims: ReadonlyArray<Claim.Claim>
  ) => Effect.Effect<ReadonlyArray<Claim.Outcome>, IdempotencyError | StorageError>

  /**
   * Gives back what `claimAll` answered `Claimed`, in the same unit, for requests
   * that were refused after all: a refused request leaves nothing behind (D14).
   */
  readonly release: (claims: ReadonlyArray<Claim.Claim>) => Effect.Effect<void, StorageError>

  /**
   * Starts the window of an implicit claim anew at `claim.at` (D20), even if it is
   * over by now; not if its key has gone to another reference since. An explicit
   * claim keeps its window.
   */
  readonly extend: (claim: Claim.Claim) => Effect.Effect<void, StorageError>

  /**
   * Claims the request and does `work` in one unit of work, or answers with the
   * reference of the request that did. When `work` fails, the key is free again.
   */
  readonly once: <A, E, R>(
    claim: Claim.Claim,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<Once<A>, E | IdempotencyError | StorageError, R>

  /** Deletes up to `limit` claims whose window is over; answers how many. Run it now and then. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/idempotency/Idempotency") {}

const make = Effect.fnUntraced(function*({ windows = {} }: IdempotencyOptions) {
  const store = yield* IdempotencyStore
  const { atomically } = yield* UnitOfWork

  const findAll = Effect.fn("Idempotency.findAll")(function*(requests: ReadonlyArray<Claim.Request>) {
    if (requests.length === 0) return []
    const held = yield* store.find(sorted(requests.map(Claim.slotOf)))
    const heldBySlot = new Map(held.map((held) => [Claim.slotText(held), held]))
    return requests.map((request) => Claim.find(request, heldBySlot.get(Claim.slotText(Claim.slotOf(request)))))
  })

  const find = yield* Folding.make({ name: "Idempotency.find", membersMax: 256, setsMax: 4, run: findAll })

  const claimAll = Effect.fn("Idempotency.claimAll")(
    function*(claims: ReadonlyArray<Claim.Claim>) {
      if (claims.length === 0) return []
      return Claim.outcomesOf(claims, yield* store.claim(sorted(claims.map(arrivingOf))))
    },
    atomically
  )

  const release = Effect.fn("Idempotency.release")(function*(claims: ReadonlyArray<Claim.Claim>) {
    if (claims.length > 0) yield* store.release(sorted(claims.map(arrivingOf)))
  })

  const extendAll = (claims: ReadonlyArray<Claim.Claim>) => {
    // The latest of each slot speaks for the others.
    const latestFirst = claims.toSorted((a, b) => DateTime.Order(b.at, a.at))
    return Effect.as(store.extend(sorted(latestFirst.map(arrivingOf))), claims.map(() => undefined))
  }
  const extendFolded = yield* Folding.make({ name: "Idempotency.extend", run: extendAll })
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

  const sweep = Effect.fn("Idempotency.sweep")(function*(limit: number) {
    return yield* store.sweep(yield* DateTime.now, limit)
  })

  const arrivingOf = (claim: Claim.Claim) => ({ ...Claim.holdOf(claim, windows), at: claim.at })

  return Idempotency.of({ find, findAll, claimAll, release, extend, once, sweep })
})

/** Idempotency with these options. */
export const layerWith = (
  options: IdempotencyOptions
): Layer.Layer<Idempotency, never, IdempotencyStore | UnitOfWork> => Layer.effect(Idempotency, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Idempotency, never, IdempotencyStore | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The first of each slot, in the order in which every unit takes its locks. */
const sorted = <A extends Claim.Slot>(claims: ReadonlyArray<A>): ReadonlyArray<A> => {
  const bySlot = new Map<string, A>()
  for (const claim of claims) {
    const slot = Claim.slotText(claim)
    if (!bySlot.has(slot)) bySlot.set(slot, claim)
  }
  return [...bySlot].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, claim]) => claim)
}
