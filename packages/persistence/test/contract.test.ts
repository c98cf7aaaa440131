import { UnitOfWork } from "@kinora/persistence"
import { Cells, suite } from "@kinora/persistence/testing"
import { Effect, Layer } from "effect"

const cells = Layer.effect(
  Cells,
  Effect.map(UnitOfWork.MemoryBackend, ({ access, makeMap }) => {
    const numbers = makeMap<string, number>()
    const get = (key: string) => access(() => numbers.get(key))
    return Cells.of({ put: (key, value) => access(() => numbers.set(key, value)), get, lock: get })
  })
)

suite("memory", cells.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
