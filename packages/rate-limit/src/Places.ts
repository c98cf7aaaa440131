/**
 * Limits of what happens at the same time, for example parallel downloads, exact across
 * processes.
 *
 * A place is a lease that its process renews while it is held, so the places of a
 * process that died become free when their leases end.
 */
import * as Deletion from "@kinora/persistence/Deletion"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
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
  /** The time for which places of requests with `mayBeKept` are kept. Default 50 milliseconds. */
  readonly keep?: Duration.Input | undefined
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
   * Whether this process keeps the place for `PlacesOptions.keep` after its scope closed, for its next request of the key,
   * which then runs no statement. Other processes find the place taken until it is released, at the latest after twice that
   * time. So a request that finds all places taken waits three times `keep`, and tries once more. All requests of a key
   * have the same value. Default false.
   */
  readonly mayBeKept?: boolean | undefined
}

/** A request for a place for a fixed time. */
export interface TimedPlaceRequest extends Pick<PlaceRequest, "key" | "max"> {
  /** The time until the place is free. */
  readonly lasts: Duration.Input
}

/** Places that a limited number of fibers hold at the same time. */
export class Places extends Context.Service<Places, {
  /**
   * Takes a place until the scope closes. Returns `false` if all are taken, without waiting
   * unless the place may be kept.
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

  /**
   * Deletes the leases of a key, for example because a person asks for it. Returns their number. Works in sets of `rowsMax`
   * leases (1 to 10,000, default 1,000), each a unit of work of its own, or all in the transaction of the caller. Idempotent.
   *
   * A place that a process holds stays with its holder, whose next renewal stores its lease again; until then, others may take
   * it too. So end the use of the key first. A place of `acquireFor` is free.
   */
  readonly forget: (
    command: { readonly key: string; readonly rowsMax?: number | undefined }
  ) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases of processes that died. Returns the number of deleted leases. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/Places") {}

const make = Effect.fnUntraced(function*(options: PlacesOptions) {
  const store = yield* RateLimitStore
  const { atomically, isOpen } = yield* UnitOfWork
  const keep = Duration.fromInputUnsafe(options.keep ?? "50 millis")
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const heldPlaces = yield* makeHeldPlaces(lease)

  const acquireFolded = yield* makeAcquire
  const releaseFolded = yield* Folding.make({
    name: "Places.release",
    membersMax: 256,
    keyOf: ({ id }: Lease.Place) => id,
    run: (places: ReadonlyArray<Lease.Place>) => Effect.as(heldPlaces.release(places), places)
  })

  const release = (places: ReadonlyArray<Lease.Place>) => {
    places.forEach(heldPlaces.drop)
    return Effect.forEach(places, releaseFolded, { concurrency: "unbounded", discard: true }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Releasing a place failed. It is free when its lease ends", cause))
    )
  }

  const keptPlaces = yield* makeKeptPlaces(keep, release)

  const take = makeTake({ acquireFolded, heldPlaces, isOpen, keep, keptPlaces, lease })

  const giveBack = (place: Lease.Place, { mayBeKept = false }: PlaceRequest) =>
    mayBeKept && heldPlaces.isHeld(place)
      // A transaction that rolls back would keep the place.
      ? Effect.flatMap(isOpen, (isInTransaction) => isInTransaction ? release([place]) : keptPlaces.keep(place))
      : release([place])

  return Places.of({
    // Without a span: each download takes a place. Each set has a span with the number of its members.
    acquire: (request) =>
      Effect.uninterruptible(Effect.flatMap(take(request), (place) => {
        if (place === undefined) return Effect.succeed(false)
        // Not by `acquireRelease`, which would release in the transaction of the caller, even
        // after its end. This finalizer runs in the transaction of the fiber that closes the scope.
        const end = (exit: Exit.Exit<unknown, unknown>) =>
          request.onInterrupt === "expire" && Exit.hasInterrupts(exit)
            ? Effect.sync(() => heldPlaces.drop(place))
            : giveBack(place, request)
        return Effect.flatMap(Scope.Scope, (scope) => Effect.as(Scope.addFinalizerExit(scope, end), true))
      })),
    acquireFor: Effect.fn("Places.acquireFor")(function*(request: TimedPlaceRequest) {
      return (yield* acquireFolded(request)) !== undefined
    }),
    held: Effect.fn("Places.held")((key: string) =>
      Effect.map(store.held(key), (held) => Math.max(held - keptPlaces.countOf(key), 0))
    ),
    forget: Effect.fn("Places.forget")(({ key, rowsMax }) =>
      Deletion.inSets({
        name: "Places.forget",
        limit: rowsMax,
        run: (limit) => atomically(store.forget("place", key, limit))
      })
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

/** The parts of the places of a process that take them. */
interface Taking {
  readonly acquireFolded: Effect.Success<typeof makeAcquire>
  readonly heldPlaces: Effect.Success<ReturnType<typeof makeHeldPlaces>>
  readonly isOpen: Effect.Effect<boolean>
  readonly keep: Duration.Duration
  readonly keptPlaces: Effect.Success<ReturnType<typeof makeKeptPlaces>>
  readonly lease: Duration.Duration
}

/** Makes the function that takes a place. It returns `undefined` if all are taken. */
const makeTake = ({ acquireFolded, heldPlaces, isOpen, keep, keptPlaces, lease }: Taking) => {
  const acquireOne = Effect.fnUntraced(function*({ key, max }: PlaceRequest) {
    const place = yield* acquireFolded({ key, max, lasts: lease })
    if (place !== undefined) yield* heldPlaces.hold(place)
    return place
  })

  /** Takes a free place, if necessary after other processes have released those that they keep, after twice the time. */
  const takeFree = Effect.fnUntraced(function*(request: PlaceRequest, isInTransaction: boolean) {
    // Repeated requests that are refused run no statement.
    if (heldPlaces.countOf(request.key) - keptPlaces.countOf(request.key) >= request.max) return undefined
    const place = yield* acquireOne(request)
    if (place !== undefined || isInTransaction || request.mayBeKept !== true) return place
    yield* Effect.interruptible(Effect.sleep(Duration.times(keep, 3)))
    return (yield* keptPlaces.takeBack(request.key)) ?? (yield* acquireOne(request))
  })

  /** Takes a kept place, or a free one. Inside a transaction only a free one, which is free again if it rolls back. */
  const take = (request: PlaceRequest): Effect.Effect<Lease.Place | undefined, StorageError> =>
    Effect.flatMap(isOpen, (isInTransaction) => {
      const isFull = heldPlaces.countOf(request.key) - keptPlaces.countOf(request.key) >= request.max
      return isInTransaction || isFull ? takeFree(request, isInTransaction) : Effect.flatMap(
        keptPlaces.takeBack(request.key),
        (kept) => kept === undefined ? takeFree(request, false) : Effect.succeed(kept)
      )
    })

  return take
}

/** Makes the folded request for a place. It returns `undefined` if all are taken. */
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
      const granted = new Set((yield* store.acquire(leases)).map(({ id }) => id))
      return leases.map(({ id, key }): Lease.Place | undefined => granted.has(id) ? { id, key } : undefined)
    })
  })
})
