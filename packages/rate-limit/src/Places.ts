/**
 * Limits of what happens at the same time, for example parallel downloads, exact across
 * processes.
 *
 * A place is a lease that its process renews while it is held, so the places of a
 * process that died become free when their leases end.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeHeldPlaces } from "./internal/heldPlaces.ts"
import { makeKeptPlaces } from "./internal/keptPlaces.ts"
import type * as Lease from "./internal/lease.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** Options of places. */
export interface PlacesOptions {
  /**
   * The time after which a place that is not renewed is free. Places are renewed three
   * times as often, so two renewals may fail. Default 30 seconds.
   */
  readonly lease?: Duration.Input | undefined
}

/** A request for a place. */
export interface PlaceRequest {
  /** Identifies the limit: a scope and an id. At most 256 characters. */
  readonly key: string
  /** The maximum number of held places. It may differ between calls. */
  readonly max: number
  /**
   * End of the place if its scope closes by interruption. `expire`: it stays taken until its
   * lease ends, for work that continues elsewhere. Default `release`.
   */
  readonly onInterrupt?: "release" | "expire" | undefined
  /**
   * Time for which this process keeps the place after its scope closed, for its next request of the key, which then
   * needs no statement. Other processes find the place taken until then. A place is kept only if at most half of
   * `max` were held when it was taken. Default 0.
   */
  readonly keepFor?: Duration.Input | undefined
}

/** A request for a place for a fixed time. */
export interface TimedPlaceRequest extends Pick<PlaceRequest, "key" | "max"> {
  /** The time until the place is free. */
  readonly lasts: Duration.Input
}

/** Places that a limited number of fibers hold at the same time. */
export class Places extends Context.Service<Places, {
  /**
   * Takes a place until the scope closes. Returns `false`, without waiting, if all are
   * taken.
   *
   * Inside a transaction of the caller, the place is taken when the transaction commits
   * and not taken if it rolls back. If the database is unavailable when the scope closes,
   * or the scope closes in a transaction that rolls back, the place is free when its lease
   * ends.
   */
  readonly acquire: (request: PlaceRequest) => Effect.Effect<boolean, StorageError, Scope.Scope>

  /**
   * Takes a place for a fixed time, also if the process dies. Returns `false`, without
   * waiting, if all are taken. With one `lasts` for all calls of a key, at most `max` of
   * them are granted within any such time.
   */
  readonly acquireFor: (request: TimedPlaceRequest) => Effect.Effect<boolean, StorageError>

  /** Returns the number of held places of a key. */
  readonly held: (key: string) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases of processes that died. Returns the number of deleted leases. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/Places") {}

const make = Effect.fnUntraced(function*(options: PlacesOptions) {
  const store = yield* RateLimitStore
  const unitOfWork = yield* UnitOfWork
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const heldPlaces = yield* makeHeldPlaces(lease)

  const acquireFolded = yield* makeAcquire
  const releaseFolded = yield* Folding.make({
    name: "Places.release",
    membersMax: 256,
    keyOf: (id: string) => id,
    run: (ids: ReadonlyArray<string>) => Effect.as(heldPlaces.release(ids), ids)
  })

  const release = (places: ReadonlyArray<Lease.Place>) => {
    for (const place of places) heldPlaces.drop(place)
    return Effect.forEach(places, ({ id }) => releaseFolded(id), { concurrency: "unbounded", discard: true }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Releasing a place failed. It is free when its lease ends", cause))
    )
  }

  const keptPlaces = yield* makeKeptPlaces(release)

  /** Keeps a place that was given back, or releases it. */
  const giveBack = Effect.fnUntraced(function*(place: Lease.Granted, { keepFor = 0, max }: PlaceRequest) {
    const time = Duration.fromInputUnsafe(keepFor)
    const isWorthKeeping = Duration.toMillis(time) > 0 && place.held * 2 <= max && heldPlaces.isHeld(place)
    // A transaction that rolls back would keep the place.
    if (isWorthKeeping && !(yield* unitOfWork.isOpen)) keptPlaces.keep(place, time, yield* Clock.Clock)
    else yield* release([place])
  })

  /** Takes a place that is kept, or a free one. Inside a transaction a free one, which is free again if it rolls back. */
  const take = Effect.fnUntraced(function*(request: PlaceRequest) {
    const kept = (yield* unitOfWork.isOpen) ? undefined : keptPlaces.takeBack(request.key, request.max)
    if (kept !== undefined) return kept
    // Whoever repeats refused requests costs no statements.
    if (heldPlaces.countOf(request.key) >= request.max) return undefined
    const place = yield* acquireFolded({ ...request, lasts: lease })
    if (place !== undefined) yield* heldPlaces.hold(place)
    return place
  })

  return Places.of({
    acquire: Effect.fn("Places.acquire")(function*(request: PlaceRequest) {
      const scope = yield* Scope.Scope
      const place = yield* take(request)
      if (place === undefined) return false
      // Not by `acquireRelease`, which would release in the transaction of the caller, even
      // after its end. This finalizer runs in the transaction of the fiber that closes the scope.
      yield* Scope.addFinalizerExit(scope, (exit) =>
        request.onInterrupt === "expire" && Exit.hasInterrupts(exit)
          ? Effect.sync(() => heldPlaces.drop(place))
          : giveBack(place, request))
      return true
    }, Effect.uninterruptible),
    acquireFor: Effect.fn("Places.acquireFor")(function*(request: TimedPlaceRequest) {
      return (yield* acquireFolded(request)) !== undefined
    }),
    held: Effect.fn("Places.held")((key: string) =>
      Effect.map(store.held(key), (held) => Math.max(held - keptPlaces.countOf(key), 0))
    ),
    sweep: Effect.fn("Places.sweep")((limit: number) => store.sweepLeases(limit))
  })
})

/** Creates places over the surrounding store. */
export const layerWith = (
  options: PlacesOptions
): Layer.Layer<Places, never, RateLimitStore | SecureRandom.SecureRandom | UnitOfWork> =>
  Layer.effect(Places, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<Places, never, RateLimitStore | SecureRandom.SecureRandom | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the folded acquisition of places. It returns `undefined` if all are taken. */
const makeAcquire = Effect.gen(function*() {
  const store = yield* RateLimitStore
  const random = yield* SecureRandom.SecureRandom
  return yield* Folding.make({
    name: "Places.acquire",
    membersMax: 256,
    keyOf: ({ key }: TimedPlaceRequest) => key,
    run: Effect.fnUntraced(function*(requests: ReadonlyArray<TimedPlaceRequest>) {
      const leases: Array<Lease.Acquire> = []
      for (const { key, lasts, max } of requests) {
        leases.push({ id: yield* random.uuidV7(), key, max, lasts: Duration.fromInputUnsafe(lasts) })
      }
      const granted = new Map((yield* store.acquire(leases)).map((lease) => [lease.id, lease]))
      return leases.map(({ id }) => granted.get(id))
    })
  })
})
