import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Generation, GenerationId } from "../src/Generation.ts"
import * as GenerationEvent from "../src/GenerationEvent.ts"

const { id: _, params: __, ...others } = Generation.fields
/**
 * Names of parameters contain no backslash. V8 13.6 (Node 24) reads an escaped key, such as
 * a lone surrogate, as a backslash if a key before it at the same place was a backslash.
 */
const Params = Schema.Record(
  Schema.String.check(Schema.isPattern(/^[a-z_]{1,16}$/)),
  Schema.Union([Schema.String, Schema.Int, Schema.Boolean])
)
const Sixteen = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))
/** A `uuid` in parts of 16 bits. */
const Uuid = Schema.Array(Sixteen).check(Schema.isMinLength(8), Schema.isMaxLength(8))

const isSame = Schema.toEquivalence(Generation)

it.effect.prop(
  "encodes a generation as JSON and decodes an equal generation",
  [Uuid, Schema.Struct({ ...others, params: Params })],
  ([parts, rest]) =>
    Effect.gen(function*() {
      const hex = parts.map((part) => part.toString(16).padStart(4, "0")).join("")
      const generation = { ...rest, id: GenerationId.fromUuid(hex) }
      const kept = JSON.parse(JSON.stringify(GenerationEvent.toData(generation)))
      const decoded = yield* GenerationEvent.fromData(kept)
      assert.isTrue(isSame(decoded, generation), JSON.stringify([kept, decoded]))
      // A new field needs a default for events that were published without it.
      assert.sameMembers(Object.keys(kept), Object.keys(generation))
    }),
  { arbitrary: { runs: 500 } }
)

it.effect("rejects data that is not a complete generation", () =>
  Effect.gen(function*() {
    for (const data of [null, {}, [], "gen_00000000000000000000000000", { id: "gen_00000000000000000000000000" }]) {
      assert.strictEqual((yield* Effect.flip(GenerationEvent.fromData(data)))._tag, "SchemaError")
    }
  }))
