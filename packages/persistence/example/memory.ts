import { UnitOfWork } from "@kinora/persistence"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { access, makeMap } = yield* UnitOfWork.MemoryBackend
  const stock = makeMap<string, number>()
  const orders = makeMap<string, string>()
  yield* access(() => stock.set("lamp", 1))

  const order = (id: string, article: string) =>
    atomically(Effect.gen(function*() {
      yield* access(() => orders.set(id, article))
      const left = yield* access(() => stock.get(article) ?? 0)
      if (left === 0) return yield* Effect.fail("sold out")
      yield* access(() => stock.set(article, left - 1))
    }))

  yield* order("order-1", "lamp")
  const failure = yield* Effect.flip(order("order-2", "lamp"))
  yield* Console.log(failure, yield* access(() => [orders.size(), stock.get("lamp")]))
})

await Effect.runPromise(Effect.provide(program, UnitOfWork.layerMemory))
// sold out [ 1, 0 ]
