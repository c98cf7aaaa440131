/**
 * Limits of what happens at the same time, for example parallel downloads, exact across
 * processes.
 *
 * A place is a lease that its process renews while it is held, so the places of a
 * process that died become free when their leases end.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeHeldPlaces } from "./internal/heldPlaces.ts"
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
  const random = yield* SecureRandom.SecureRandom
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const heldPlaces = yield* makeHeldPlaces(lease)

  const acquireFolded = yield* Folding.make({
    name: "Places.acquire",
    membersMax: 256,
    keyOf: ({ key }: TimedPlaceRequest) => key,
    run: Effect.fnUntraced(function*(requests: ReadonlyArray<TimedPlaceRequest>) {
      const leases: Array<Lease.Acquire> = []
      for (const { key, lasts, max } of requests) {
        leases.push({ id: yield* random.uuidV7(), key, max, lasts: Duration.fromInputUnsafe(lasts) })
      }
      const granted = new Set((yield* store.acquire(leases)).map(({ id }) => id))
      return leases.map(({ id, key }): Lease.Place | undefined => granted.has(id) ? { id, key } : undefined)
    })
  })

  const releaseFolded = yield* Folding.make({
    name: "Places.release",
    membersMax: 256,
    keyOf: (id: string) => id,
    run: (ids: ReadonlyArray<string>) => Effect.as(heldPlaces.release(ids), ids)
  })

  const giveBack = (place: Lease.Place) => {
    heldPlaces.drop(place)
    return releaseFolded(place.id).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Releasing a place failed. It is free when its lease ends", cause))
    )
  }

  return Places.of({
    acquire: Effect.fn("Places.acquire")(function*(request: PlaceRequest) {
      // Whoever repeats refused requests costs no statements.
      if (heldPlaces.countOf(request.key) >= request.max) return false
      const scope = yield* Scope.Scope
      const place = yield* acquireFolded({ ...request, lasts: lease })
      if (place === undefined) return false
      yield* heldPlaces.hold(place)
      // Not by `acquireRelease`, which would release in the transaction of the caller, even
      // after its end. This finalizer runs in the transaction of the fiber that closes the scope.
      yield* Scope.addFinalizerExit(scope, (exit) =>
        request.onInterrupt === "expire" && Exit.hasInterrupts(exit)
          ? Effect.sync(() => heldPlaces.drop(place))
          : giveBack(place))
      return true
    }, Effect.uninterruptible),
    acquireFor: Effect.fn("Places.acquireFor")(function*(request: TimedPlaceRequest) {
      return (yield* acquireFolded(request)) !== undefined
    }),
    held: Effect.fn("Places.held")((key: string) => store.held(key)),
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
