import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Generator } from "../src/Generator.ts"
import * as Generators from "../src/Generators.ts"
import * as ScriptedGenerator from "../src/ScriptedGenerator.ts"

const unsafe = Layer.fresh(
  Layer.provide(ScriptedGenerator.layer, Layer.fresh(ScriptedGenerator.layerControl({ resubmit: "unsafe" })))
)

it.effect("returns each driver by its name", () =>
  Effect.gen(function*() {
    const generators = yield* Generators.Generators
    assert.deepStrictEqual(generators.names, ["far", "near"])
    assert.strictEqual(Option.getOrThrow(generators.get("far")).resubmit, "unsafe")
    assert.strictEqual(Option.getOrThrow(generators.get("near")).resubmit, "safe")
  }).pipe(
    Effect.provide(
      Layer.provide(
        Generators.layer({ near: ScriptedGenerator.layer, far: unsafe }),
        ScriptedGenerator.layerControl()
      )
    )
  ))

it.effect("returns None for a driver that is not registered", () =>
  Effect.gen(function*() {
    const { get } = yield* Generators.Generators
    assert.isTrue(Option.isNone(get("scripted")))
    assert.isTrue(Option.isNone(get("constructor")))
  }).pipe(Effect.provide(Generators.layer({}))))

it.effect("shares the Control of the scripted driver", () =>
  Effect.gen(function*() {
    const { generator } = yield* ScriptedGenerator.Control
    const { get } = yield* Generators.Generators
    assert.strictEqual(Option.getOrThrow(get("scripted")), generator)
  }).pipe(
    Effect.provide(
      Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
        Layer.provideMerge(ScriptedGenerator.layerControl())
      )
    )
  ))

it.effect("fails to start when a driver fails to start", () =>
  Effect.gen(function*() {
    const failing = Layer.effect(Generator, Effect.fail("no key" as const))
    const error: "no key" = yield* Effect.flip(Layer.build(Generators.layer({ failing })))
    assert.strictEqual(error, "no key")
  }))
