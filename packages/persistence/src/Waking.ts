/**
 * Wakes workers that poll tables for work. Workers of this process wake immediately
 * after the commit, workers of other processes through hooks. A lost wake-up only
 * delays work until the next poll.
 */
import { Effect, Latch, RcRef, Schema, type Scope, Stream } from "effect"

/** Names of the kinds of work that became ready. `undefined`: any kind. */
export type Kinds = ReadonlyArray<string> | undefined

/** Wakes the workers of this process, and of other processes through hooks. */
export interface Waking {
  /** Wakes all workers. Cheap if no worker sleeps. */
  readonly wake: Effect.Effect<void>
  /** Wakes the workers that take one of these kinds of work, or all kinds. */
  readonly wakeFor: (kinds: Kinds) => Effect.Effect<void>
  /** Creates a latch that every wake-up opens until the scope closes. The worker closes it before each poll. */
  readonly subscribe: Effect.Effect<Latch.Latch, never, Scope.Scope>
  /** Creates a latch like that of `subscribe`. Wake-ups that name other kinds only do not open it. */
  readonly subscribeTo: (kinds: ReadonlyArray<string>) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}

/** A hook that runs for each wake-up, with the kinds that it names if it is a function. */
export type Hook<E = never> = Effect.Effect<void, E> | ((kinds: Kinds) => Effect.Effect<void, E>)

/** Options for `make`: hooks to other processes. */
export interface WakingOptions {
  /**
   * Notifies other processes. Runs after each commit that made work, before its caller
   * continues, so it should only schedule a notification and send one for many.
   */
  readonly publish?: Hook | undefined
  /**
   * Notifications of other processes. An array of names wakes the workers of this process that take these kinds of work, any
   * other element all of them. Runs while there are workers.
   */
  readonly subscribe?: Stream.Stream<unknown> | undefined
}

/** Runs a hook. */
export const runHook = <E>(hook: Hook<E>, kinds: Kinds): Effect.Effect<void, E> =>
  typeof hook === "function" ? hook(kinds) : hook

/** Creates a `Waking` that listens to other processes until the scope closes. */
export const make = Effect.fnUntraced(
  function*({ publish = Effect.void, subscribe = Stream.empty }: WakingOptions): Effect.fn.Return<
    Waking,
    never,
    Scope.Scope
  > {
    /** The latches of workers, with the kinds that they take. */
    const latches = new Map<Latch.Latch, ReadonlySet<string> | undefined>()
    const wakeHere = (kinds: Kinds) =>
      Effect.sync(() =>
        latches.forEach((own, latch) => {
          if (kinds === undefined || own === undefined || kinds.some((kind) => own.has(kind))) latch.openUnsafe()
        })
      )
    const listening = yield* RcRef.make({
      acquire: Effect.forkScoped(
        Stream.runForEach(subscribe, (element) => wakeHere(isKinds(element) ? element : undefined)),
        { startImmediately: true }
      )
    })
    const add = (kinds: Kinds) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe(false)
          latches.set(latch, kinds && new Set(kinds))
          return latch
        }),
        (latch) => Effect.sync(() => latches.delete(latch))
      ).pipe(Effect.tap(() => RcRef.get(listening)))
    const wakeFor = (kinds: Kinds) => Effect.andThen(wakeHere(kinds), Effect.suspend(() => runHook(publish, kinds)))
    return { wake: wakeFor(undefined), wakeFor, subscribe: add(undefined), subscribeTo: add }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isKinds = Schema.is(Schema.Array(Schema.String))
