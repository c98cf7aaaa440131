import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Rejection from "../src/Rejection.ts"

class TooMany extends Schema.TaggedError<TooMany>("test/TooMany")("TooMany", { max: Schema.Int }) {}

class Refused extends Schema.TaggedError<Refused>("test/Refused")("Refused", { message: Schema.String }) {}

class ShopError extends Rejection.define<ShopError>("test/ShopError")(
  "ShopError",
  "The shop",
  Schema.Union([TooMany, Refused])
) {}

it("names the reason in the message", () => {
  const error = new ShopError({ reason: new TooMany({ max: 3 }) })
  assert.strictEqual(error.message, "The shop rejected the command: TooMany")
  assert.strictEqual(error.name, "test/ShopError")
})

it("has the message of a reason that has one", () => {
  const error = new ShopError({ reason: new Refused({ message: "The card was declined" }) })
  assert.strictEqual(error.message, "The card was declined")
})

it.effect("is a typed failure with its reason", () =>
  Effect.gen(function*() {
    const program = Effect.gen(function*() {
      return yield* new ShopError({ reason: new TooMany({ max: 3 }) })
    })
    const caught = yield* program.pipe(
      Effect.catchTag("ShopError", ({ reason }) => Effect.succeed(reason._tag === "TooMany" ? reason.max : 0))
    )
    assert.strictEqual(caught, 3)
  }))

it("decodes to an instance of the class", () => {
  const error = new ShopError({ reason: new TooMany({ max: 3 }) })
  const encoded = Schema.encodeUnknownSync(ShopError)(error)
  assert.deepStrictEqual(encoded, { _tag: "ShopError", reason: { _tag: "TooMany", max: 3 } })
  const decoded = Schema.decodeUnknownSync(ShopError)(encoded)
  assert.instanceOf(decoded, ShopError)
  assert.instanceOf(decoded.reason, TooMany)
})
