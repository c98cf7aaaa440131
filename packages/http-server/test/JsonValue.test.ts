import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as JsonStructure from "../src/wire/jsonStructure.ts"
import * as JsonValue from "../src/wire/jsonValue.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const unlimited: JsonStructure.StructureLimits = { weightMax: Infinity, stringBytesMax: Infinity }

/** Divides texts wherever they can be divided. */
const finest: JsonStructure.Division = { shortStringMax: 8, pieceMax: 16 }

const parsed = Effect.fnUntraced(
  function*(text: Uint8Array, division?: JsonStructure.Division) {
    return yield* JsonValue.parse(text, yield* JsonStructure.measure(text, unlimited, division), division)
  },
  Effect.result
)

/** The value that `JSON.parse` returns, or `Malformed`. */
const expected = (text: Uint8Array) =>
  Result.try({ try: (): unknown => JSON.parse(new TextDecoder().decode(text)), catch: () => "Malformed" as const })

/** Strings compare by their code units, since reports of differences replace lone surrogates. */
const assertSame = (actual: unknown, wanted: unknown, text: Uint8Array) => {
  assert.strictEqual(JSON.stringify(actual), JSON.stringify(wanted), new TextDecoder().decode(text))
}

/** Parts of strings: characters of each length, escape sequences, and now and then something invalid. */
const valid = ["abcdefgh", "\\n", "\\\\", "\\\"", "\\u20ac", "\\ud83d\\ude00", "é", "€", "😀", "\ufeff", "\\ud800", ","]
  .map(bytesOf)
const invalid = [[0x80], [0x80, 0x80, 0x80, 0x80, 0x80], [0xf0, 0x9f], [0xef], [0x22], [0x5c], [0x0a], bytesOf("\\u12")]
  .map((bytes) => Uint8Array.from(bytes))
const parts = [...valid, ...valid, ...valid, ...invalid]
const Content = Schema.Array(Schema.Literals(parts.map((_, index) => index)))

const textOf = (contents: ReadonlyArray<ReadonlyArray<number>>) => {
  const [a, b, c, d] = contents.map((content) => content.flatMap((index) => Array.from(parts[index]!)))
  const quoted = (content: ReadonlyArray<number> = []) => [0x22, ...content, 0x22]
  const join = (...pieces: ReadonlyArray<ReadonlyArray<number> | string>) =>
    Uint8Array.from(pieces.flatMap((piece) => typeof piece === "string" ? Array.from(bytesOf(piece)) : piece))
  return [
    join(
      "{",
      quoted(a),
      ":",
      quoted(b),
      ",",
      quoted(c),
      ": [1, ",
      quoted(d),
      "],",
      quoted(a),
      ":{",
      quoted(b),
      ":null}}"
    ),
    join("\ufeff", quoted(a)),
    join(" [", quoted(a), quoted(b), "]")
  ]
}

describe("a JSON text that is parsed in pieces", () => {
  it.effect.prop(
    "has the value that it has as a whole",
    [Content, Content, Content, Content],
    (contents) =>
      Effect.gen(function*() {
        for (const text of textOf(contents)) {
          for (const division of [finest, { shortStringMax: 20, pieceMax: 19 }, JsonStructure.defaultDivision]) {
            assertSame(yield* parsed(text, division), expected(text), text)
          }
        }
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect("keeps names that objects have by themselves, and the last of equal names", () =>
    Effect.gen(function*() {
      const equal = bytesOf(`{"😀":1,"\\ud83d\\ude00":2,"😀":3}`)
      assert.deepStrictEqual(yield* parsed(equal, finest), Result.succeed({ "😀": 3 }))
      const long = "n".repeat(20)
      const text = `{"__proto__":"${long}","2":"${long}","1":{"__proto__":1},"${long}":1,"${long}":2,"${
        "0".repeat(9)
      }":3}`
      const value = Result.getOrThrow(yield* parsed(bytesOf(text), finest))
      assert.deepStrictEqual(value, JSON.parse(text))
      assert.deepStrictEqual(Object.keys(value as object), ["1", "2", "__proto__", long, "000000000"])
    }))

  it.effect("is undefined if it is empty", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* parsed(new Uint8Array()), Result.succeed(undefined))
      assert.deepStrictEqual(yield* parsed(bytesOf("\ufeff")), Result.succeed(undefined))
    }))

  it.effect("yields to other fibers before a long string has been parsed", () =>
    Effect.gen(function*() {
      const text = bytesOf(`{"data":"${"A".repeat(4 * JsonStructure.defaultDivision.pieceMax)}"}`)
      let turns = 0
      // Each repetition of `forever` yields.
      const counting = yield* Effect.forkChild(Effect.forever(Effect.sync(() => turns++)))
      assert.deepStrictEqual(yield* parsed(text), expected(text))
      counting.interruptUnsafe()
      // Four to measure it, and four to parse it.
      assert.isAtLeast(turns, 7)
    }))
})
