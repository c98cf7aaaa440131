/**
 * How many may do something at the same time: parallel streams (D29), long polls
 * (D37). Exact across processes.
 *
 * A place is a lease that its process renews while it is held, so the places of a
 * process that died come back by themselves.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, Duration, Effect, Layer, Scope, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import type * as Lease from "./Lease.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** What places can be told. */
export interface PlacesOptions {
  /**
   * After this time without a renewal a place is free again. Renewed three times
   * as often, so that two renewals may fail. Default 30 seconds.
   */
  readonly lease?: Duration.Input | undefined
}

/** A place that is asked for. */
export interface PlaceRequest {
  /** What is limited: a scope and an id. At most 256 characters. */
  readonly key: string
  /** At most this many at the same time. Calls may differ; each is judged by its own. */
  readonly max: number
}

/** Concurrency places. */
export class Places extends Context.Service<Places, {
  /**
   * Takes a place until the scope closes; `false` when all are taken. Never waits
   * for one. A place whose database cannot be reached when the scope closes comes
   * back when its lease ends.
   */
  readonly acquire: (request: PlaceRequest) => Effect.Effect<boolean, StorageError, Scope.Scope>

  /** How many places of the key are taken. */
  readonly held: (key: string) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases of processes that died; answers how many. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/Places") {}

const make = Effect.fnUntraced(function*(options: PlacesOptions) {
  const store = yield* RateLimitStore
  const random = yield* SecureRandom.SecureRandom
  const scope = yield* Scope.Scope
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const renewEvery = Duration.millis(Duration.toMillis(lease) / 3)

  const places = new Map<string, string>()
  // A renewal that overtook a release would bring its place back.
  const writing = Semaphore.makeUnsafe(1)

  const renew = Effect.gen(function*() {
    const expiresAt = DateTime.addDuration(yield* DateTime.now, lease)
    const leases = Array.from(places, ([id, key]): Lease.Lease => ({ id, key, expiresAt }))
    if (leases.length > 0) yield* store.renew(leases)
  }).pipe(
    writing.withPermits(1),
    Effect.catchCause((cause) => Effect.logWarning("Places could not be renewed", cause)),
    Effect.withSpan("Places.renew")
  )

  // Runs while places are held, so that an idle process costs nothing.
  let renewing = false
  const renewWhileHeld: Effect.Effect<void> = Effect.suspend(() => {
    renewing = places.size > 0
    return renewing ? Effect.andThen(Effect.andThen(Effect.sleep(renewEvery), renew), renewWhileHeld) : Effect.void
  })

  const acquireFolded = yield* Folding.make({
    name: "Places.acquire",
    membersMax: 256,
    run: Effect.fnUntraced(function*(requests: ReadonlyArray<PlaceRequest>) {
      const now = yield* DateTime.now
      const expiresAt = DateTime.addDuration(now, lease)
      const wanted: Array<Lease.Wanted> = []
      for (const { key, max } of requests) wanted.push({ id: yield* random.uuidV7(), key, max, expiresAt })
      const granted = new Set((yield* store.acquire(wanted, now)).map(({ id }) => id))
      return wanted.map(({ id }) => granted.has(id) ? id : undefined)
    })
  })

  const releaseFolded = yield* Folding.make({
    name: "Places.release",
    membersMax: 256,
    run: (ids: ReadonlyArray<string>) => Effect.as(writing.withPermits(1)(store.release(ids)), ids)
  })

  const take = Effect.fnUntraced(function*(request: PlaceRequest) {
    const id = yield* acquireFolded(request)
    if (id === undefined) return undefined
    places.set(id, request.key)
    if (!renewing) yield* Effect.forkIn(renewWhileHeld, scope, { startImmediately: true })
    return id
  })

  const giveBack = (id: string | undefined) => {
    if (id === undefined) return Effect.void
    places.delete(id)
    return releaseFolded(id).pipe(
      Effect.catchCause((cause) => Effect.logWarning("A place comes back only when its lease ends", cause))
    )
  }

  const acquire = Effect.fn("Places.acquire")((request: PlaceRequest) =>
    Effect.map(Effect.acquireRelease(take(request), giveBack), (id) => id !== undefined)
  )

  const held = Effect.fn("Places.held")(function*(key: string) {
    return yield* store.held(key, yield* DateTime.now)
  })

  const sweep = Effect.fn("Places.sweep")(function*(limit: number) {
    return yield* store.sweepLeases(yield* DateTime.now, limit)
  })

  return Places.of({ acquire, held, sweep })
})

/** Places with these options. */
export const layerWith = (
  options: PlacesOptions
): Layer.Layer<Places, never, RateLimitStore | SecureRandom.SecureRandom | UnitOfWork> =>
  Layer.effect(Places, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Places, never, RateLimitStore | SecureRandom.SecureRandom | UnitOfWork> = layerWith({})
