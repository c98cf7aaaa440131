import { type StorageError, TypeId, UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

const OrderId = TypeId.define("order", "OrderId")

/** A package: what is left of each article. It knows nothing of orders. */
export class Stock extends Context.Service<Stock, {
  /** Takes one. `false` when none is left, and then nothing has changed. */
  readonly take: (article: string) => Effect.Effect<boolean, StorageError.StorageError>
}>()("example/Stock") {}

/** Another package: what was ordered. It knows nothing of the stock. */
export class Orders extends Context.Service<Orders, {
  readonly add: (id: string, article: string) => Effect.Effect<void, StorageError.StorageError>
  readonly count: Effect.Effect<number, StorageError.StorageError>
}>()("example/Orders") {}

/** Takes one and records the order: both, or neither. */
const order = Effect.fn("order")(function*(article: string, address?: string) {
  const { afterCommit, atomically } = yield* UnitOfWork.UnitOfWork
  const { take } = yield* Stock
  const { add } = yield* Orders
  const id = yield* OrderId.make
  return yield* atomically(Effect.gen(function*() {
    // A refusal is a value: nothing was written, and the unit commits.
    if (!(yield* take(article))) return "sold out"
    yield* add(id, article)
    // A failure rolls back what both packages have written.
    if (address === undefined) return yield* Effect.fail("no address" as const)
    yield* afterCommit(Effect.logDebug("Somebody may pack"))
    return "ordered"
  }))
})

export const example = Effect.gen(function*() {
  const outcomes = [
    yield* Effect.flip(order("lamp")),
    yield* order("lamp", "Lake Street 1"),
    yield* order("lamp", "Lake Street 1")
  ]
  return { outcomes, orders: yield* (yield* Orders).count }
})

/** The packages in memory, with one lamp. */
export const layerMemory = Layer.mergeAll(
  Layer.effect(
    Stock,
    Effect.gen(function*() {
      const { access, makeMap } = yield* UnitOfWork.MemoryBackend
      const left = makeMap<string, number>()
      yield* access(() => left.set("lamp", 1))
      const take = (article: string) =>
        access(() => {
          const count = left.get(article) ?? 0
          if (count > 0) left.set(article, count - 1)
          return count > 0
        })
      return Stock.of({ take })
    })
  ),
  Layer.effect(
    Orders,
    Effect.gen(function*() {
      const { access, makeMap } = yield* UnitOfWork.MemoryBackend
      const orders = makeMap<string, string>()
      return Orders.of({
        add: (id, article) => access(() => orders.set(id, article)),
        count: access(orders.size)
      })
    })
  )
).pipe(Layer.provideMerge(UnitOfWork.layerMemory), Layer.provideMerge(SecureRandom.layerWebCrypto))
