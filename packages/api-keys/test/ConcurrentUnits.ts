/** Keys in memory whose units of work run at the same time and cannot roll back, so that only the locks of owners separate them. */
import { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Exit, Layer, Scope, Semaphore } from "effect"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import * as MemoryApiKeyStore from "../src/MemoryApiKeyStore.ts"

/** The unit that a fiber is in. */
const Unit = Context.Reference<{ readonly scope: Scope.Closeable; readonly owners: Set<string> } | undefined>(
  "test/ConcurrentUnits/Unit",
  { defaultValue: () => undefined }
)

const units = UnitOfWork.UnitOfWork.of({
  atomically: ((effect: Effect.Effect<unknown, unknown, unknown>) =>
    Effect.gen(function*() {
      if ((yield* Unit) !== undefined) return yield* effect
      const scope = yield* Scope.make()
      return yield* effect.pipe(
        Effect.provideService(Unit, { scope, owners: new Set() }),
        Effect.onExit(() => Scope.close(scope, Exit.void))
      )
    })) as UnitOfWork.UnitOfWork["Service"]["atomically"],
  afterCommit: (effect) => effect,
  isOpen: Effect.map(Unit, (unit) => unit !== undefined)
})

/** Provides the store, with or without locks of owners until the unit ends. */
export const layer = ({ locks }: { readonly locks: boolean }) =>
  Layer.effect(
    ApiKeyStore,
    Effect.map(ApiKeyStore, (store) => {
      const semaphores = new Map<string, Semaphore.Semaphore>()
      const lockOwner = Effect.fnUntraced(function*(owner: string) {
        const unit = yield* Unit
        if (!locks || unit === undefined || unit.owners.has(owner)) return
        const semaphore = semaphores.get(owner) ?? Semaphore.makeUnsafe(1)
        semaphores.set(owner, semaphore)
        yield* semaphore.take(1)
        unit.owners.add(owner)
        yield* Scope.addFinalizer(unit.scope, semaphore.release(1))
      })
      return ApiKeyStore.of({
        ...store,
        lockOwner,
        // Other units continue between a read and the write that it decides.
        countKeys: (...query) => Effect.tap(store.countKeys(...query), Effect.yieldNow),
        findKey: (...query) => Effect.tap(store.findKey(...query), Effect.yieldNow),
        revokeKeys: (...query) => Effect.andThen(Effect.yieldNow, store.revokeKeys(...query))
      })
    })
  ).pipe(
    Layer.provide(MemoryApiKeyStore.layer),
    Layer.provide(UnitOfWork.layerMemory),
    Layer.merge(Layer.succeed(UnitOfWork.UnitOfWork, units))
  )
