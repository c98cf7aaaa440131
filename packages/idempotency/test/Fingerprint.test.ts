import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Digest } from "effect/crypto"
import { isDeepStrictEqual } from "node:util"
import { canonicalize, make } from "../src/Fingerprint.ts"

it("writes what RFC 8785 writes", () => {
  const vectors: ReadonlyArray<readonly [json: string, canonical: string]> = [
    ["{ \"b\": 1, \"a\": [ true, null , \"x\" ] }", "{\"a\":[true,null,\"x\"],\"b\":1}"],
    // Section 3.2.2: numbers and strings.
    [
      "{\"numbers\":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],\"string\":\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\"literals\":[null,true,false]}",
      "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    ],
    // Section 3.2.3: sorted by UTF-16 code units.
    [
      "{\"\\u20ac\":\"Euro\",\"\\r\":\"CR\",\"\\ufb33\":\"Hebrew\",\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji\",\"\\u0080\":\"Control\",\"\\u00f6\":\"o\"}",
      "{\"\\r\":\"CR\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"o\",\"€\":\"Euro\",\"\u{1f600}\":\"Emoji\",\"\ufb33\":\"Hebrew\"}"
    ],
    ["-0", "0"],
    ["1.0", "1"],
    ["{\"10\":1,\"9\":2,\"a\":{}}", "{\"10\":1,\"9\":2,\"a\":{}}"],
    ["{\"__proto__\":{\"b\":[],\"a\":1}}", "{\"__proto__\":{\"a\":1,\"b\":[]}}"]
  ]
  for (const [json, canonical] of vectors) assert.strictEqual(canonicalize(JSON.parse(json)), canonical)
})

it("distinguishes infinite numbers from null, and lone surrogates from the replacement character", () => {
  assert.notStrictEqual(canonicalize(JSON.parse("[1e999]")), canonicalize([null]))
  assert.notStrictEqual(canonicalize(JSON.parse("[1e999]")), canonicalize(JSON.parse("[-1e999]")))
  assert.notStrictEqual(canonicalize(JSON.parse("\"\\ud800\"")), canonicalize("\ufffd"))
})

it("accepts any depth", () => {
  const depth = 200_000
  const text = "[".repeat(depth) + "]".repeat(depth)
  assert.strictEqual(canonicalize(JSON.parse(text)), text)
})

it.effect("is the SHA-256 of the canonical text", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* make({}), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
    assert.strictEqual(yield* make({ b: "\u20ac", a: 1 }), yield* make(JSON.parse(" {\"a\":1.0, \"b\":\"\\u20ac\"}")))
    assert.notStrictEqual(yield* make({ a: 1 }), yield* make({ a: "1" }))
  }).pipe(Effect.provide(Digest.layerWebCrypto)))

it.effect("accepts images in base64 of many megabytes", () =>
  Effect.gen(function*() {
    const image = "iVBORw0KGgo".repeat(2_000_000)
    const fingerprint = yield* make({ prompt: "a", images: [image] })
    assert.strictEqual(yield* make({ images: [image], prompt: "a" }), fingerprint)
    assert.notStrictEqual(yield* make({ images: [`${image}=`], prompt: "a" }), fingerprint)
  }).pipe(Effect.provide(Digest.layerWebCrypto)))

it("writes long strings as JSON does, wherever they are cut", () => {
  const long = 256 * 1024
  for (const unit of ["a", "\"", "\u0001", "\u20ac", "\ud83d\ude00", "\ud800"]) {
    for (let shift = -2; shift <= 2; shift++) {
      const value = "b".repeat(long + shift) + unit.repeat(long)
      assert.isTrue(canonicalize({ value }) === JSON.stringify({ value }), `${JSON.stringify(unit)} at ${shift}`)
    }
  }
})

it.effect("yields to other fibers while it encodes a long value", () =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(make({ images: ["a".repeat(4 * 1024 ** 2)] }), { startImmediately: true })
    let turns = 0
    while (fiber.pollUnsafe() === undefined && turns < 10) {
      turns++
      yield* Effect.yieldNow
    }
    assert.strictEqual(turns, 10)
    const expected = yield* Digest.Digest.use((digest) =>
      digest.digestHex(Digest.sha256, new TextEncoder().encode(JSON.stringify({ images: ["a".repeat(4 * 1024 ** 2)] })))
    )
    assert.strictEqual(yield* Fiber.join(fiber), expected)
  }).pipe(Effect.provide(Digest.layerWebCrypto)))

it.effect.prop(
  "preserves the value",
  [Schema.Json],
  ([json]) =>
    Effect.sync(() => assert.deepStrictEqual(JSON.parse(canonicalize(json)), JSON.parse(JSON.stringify(json))))
)

it.effect.prop("does not depend on the order of keys or on white space", [Schema.Json], ([json]) =>
  Effect.sync(() => {
    const rewritten = JSON.parse(JSON.stringify(reversed(json), undefined, 2))
    assert.strictEqual(canonicalize(rewritten), canonicalize(json))
  }))

const Few = Schema.Array(
  Schema.Union([
    Schema.Literals([0, 1, "", "0", "0,1", "\",\"", "[", "null", true]),
    Schema.Null,
    Schema.Record(Schema.Literals(["a", "b"]), Schema.Literals([0, 1]))
  ])
).check(Schema.isMaxLength(3))

it.effect.prop("is equal for equal values only", [Few, Few], ([one, two]) =>
  Effect.sync(() => {
    assert.strictEqual(canonicalize(one) === canonicalize(two), isDeepStrictEqual(one, two))
  }))

/** The same value with the keys of every object in the opposite order. */
const reversed = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(reversed)
  if (typeof json !== "object" || json === null) return json
  return Object.fromEntries(Object.entries(json).toReversed().map(([key, value]) => [key, reversed(value)]))
}
