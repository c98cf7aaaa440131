import { assert, it } from "@effect/vitest"
import * as ChunkMemory from "../src/middleware/chunkMemory.ts"

const small = 64 * 1024
const large = 256 * 1024

it("uses the memory of a response again after it was given back", () => {
  const makeMemory = ChunkMemory.make()
  const [first, second] = [makeMemory(), makeMemory()]
  const chunk = first.allocate(10)
  assert.strictEqual(chunk.length, small)
  assert.strictEqual(first.allocate(small), chunk)
  assert.notStrictEqual(second.allocate(small), chunk)
  first.giveBack()
  // Once only.
  first.giveBack()
  assert.strictEqual(makeMemory().allocate(1), chunk)
  assert.notStrictEqual(makeMemory().allocate(1), chunk)
})

it("gives small memory back when a response needs a larger one", () => {
  const makeMemory = ChunkMemory.make()
  const memory = makeMemory()
  const chunk = memory.allocate(small)
  assert.strictEqual(memory.allocate(small + 1).length, large)
  assert.strictEqual(makeMemory().allocate(small), chunk)
  assert.strictEqual(memory.allocate(small).length, large)
})

it("keeps 4 MiB of each size", () => {
  const makeMemory = ChunkMemory.make()
  for (const [size, kept] of [[small, 64], [large, 16]] as const) {
    const memories = Array.from({ length: kept + 1 }, () => makeMemory())
    const used = new Set(memories.map(({ allocate }) => allocate(size)))
    for (const { giveBack } of memories) giveBack()
    const again = Array.from({ length: kept + 1 }, () => makeMemory().allocate(size))
    assert.strictEqual(again.filter((chunk) => used.has(chunk)).length, kept)
  }
})

it("does not keep memory of other sizes", () => {
  const makeMemory = ChunkMemory.make()
  const memory = makeMemory()
  const chunk = memory.allocate(large + 1)
  assert.strictEqual(chunk.length, large + 1)
  memory.giveBack()
  assert.notStrictEqual(makeMemory().allocate(large + 1), chunk)
})
