import { assert, it } from "@effect/vitest"
import { dataOf } from "../src/internal/sse.ts"
import { collect } from "./Scene.ts"

const text =
  ": hello\r\nevent: generation\r\ndata: {\"a\":\r\ndata:\"ä\"}\r\n\r\n\nid: 1\ndatabase: no\ndata\n\ndata: half"

const read = (pieces: ReadonlyArray<Uint8Array>) => {
  const left = [...pieces]
  return collect(dataOf({ response: new Response(), close: () => {}, next: async () => left.shift() }))
}

it("reads the same events wherever the bytes are cut", async () => {
  const bytes = new TextEncoder().encode(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepStrictEqual(await read([bytes.slice(0, cut), bytes.slice(cut)]), [`{"a":\n"ä"}`, ""], `cut at ${cut}`)
  }
  assert.deepStrictEqual(await read([...bytes].map((byte) => new Uint8Array([byte]))), [`{"a":\n"ä"}`, ""])
})
