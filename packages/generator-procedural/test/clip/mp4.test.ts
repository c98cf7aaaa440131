import { assert, it } from "@effect/vitest"
import { boxesOf, finished } from "../../src/internal/clip/mp4.ts"

const box = (type: string, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const header = Buffer.alloc(8)
  header.writeUInt32BE(8 + content.length)
  header.write(type, 4, "latin1")
  return Buffer.concat([header, content])
}

const numbers = (...values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4))
  return bytes
}

const ftyp = box("ftyp", Buffer.from("isom"))
const media = Buffer.from("abcdefgh")
const mdat = box("mdat", media)

/** A file with the index last: two chunks, `abcd` and `efgh`. */
const file = (chunks: Buffer) =>
  Buffer.concat([
    ftyp,
    box("free"),
    mdat,
    box(
      "moov",
      box("mvhd", numbers(0, 111, 222, 1000, 2000)),
      box("trak", box("mdia", box("minf", box("stbl", chunks))))
    )
  ])

const start = ftyp.length + 8 + 8
const stco = box("stco", numbers(0, 2, start, start + 4))
const co64 = box("co64", numbers(0, 2, 0, start, 0, start + 4))

it("moves the index before the media, and its offsets with it", () => {
  for (const chunks of [stco, co64]) {
    const moved = Buffer.from(finished(file(chunks), "a tool"))
    assert.deepStrictEqual(boxesOf(moved).map(({ type }) => type), ["ftyp", "moov", "mdat"])
    const place = moved.indexOf(chunks === stco ? "stco" : "co64") + 4 + 8
    const offsets = chunks === stco ? [0, 4] : [4, 12]
    const found = offsets.map((offset) => moved.readUInt32BE(place + offset))
    assert.deepStrictEqual(found.map((from) => moved.toString("latin1", from, from + 4)), ["abcd", "efgh"])
    assert.include(moved.toString("latin1"), "a tool")
    assert.strictEqual(moved.readBigUInt64BE(moved.indexOf("mvhd") + 8), 0n)
  }
})

it("gives a file that is finished already the same bytes again", () => {
  const once = finished(file(stco), "a tool")
  assert.deepStrictEqual(finished(once, "a tool"), once)
})

it("rejects files that are truncated or incomplete", () => {
  const whole = file(stco)
  assert.throws(() => finished(whole.subarray(0, -3), "a tool"), /moov at byte 36 has a wrong size/u)
  assert.throws(() => finished(whole.subarray(0, 15), "a tool"), /truncated/u)
  assert.throws(() => finished(Buffer.concat([ftyp, mdat]), "a tool"), /exactly one box moov/u)
  assert.throws(() => finished(Buffer.concat([whole, mdat]), "a tool"), /exactly one box mdat/u)
  assert.throws(() => boxesOf(numbers(4, 0x66747970)), /ftyp at byte 0 has a wrong size/u)
})
