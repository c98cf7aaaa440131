/** A driver whose upstream rejects its credential until a case repairs it. */
import { Driver, Generator, GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { Context, Effect, Layer } from "effect"
import type { MemoryOptions } from "../../src/conformance/MemoryStage.ts"
import * as Drill from "../../src/Drill.ts"

/** A model whose upstream fails, alone on its stage. */
export const make = () => {
  let isBroken = true
  const layer = Layer.effect(
    Generator.Generator,
    Effect.gen(function*() {
      const { generator } = Context.get(
        yield* Layer.build(Layer.fresh(ScriptedGenerator.layerControl())),
        ScriptedGenerator.Control
      )
      return Generator.Generator.of({
        ...generator,
        submit: (request) => Effect.suspend(() => isBroken ? Effect.fail(denied) : generator.submit(request))
      })
    })
  )
  const options: MemoryOptions = {
    drivers: {
      fragile: {
        driver: Driver.make({ layer: () => layer }),
        limits: { failures_max: 2, open_time: "30 seconds", pause_after: "10 seconds" }
      }
    },
    models: [{ ...Drill.model({ id: "fragile", credits: 2 }), driver: { name: "fragile" } }]
  }
  return {
    options,
    /** The upstream works from now on. */
    repair: () => {
      isBroken = false
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const denied = new GeneratorError.GeneratorError({
  reason: new GeneratorError.Permanent({
    code: "upstream_error",
    reason: "internal",
    message: "The provider is not available to this service."
  })
})
