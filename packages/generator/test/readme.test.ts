import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { run } from "../example/job.ts"
import { Generators, ScriptedGenerator } from "../src/index.ts"

it.live("the README's example runs", () =>
  Effect.gen(function*() {
    const answer = yield* run("scripted", {
      id: "gen_1",
      model: { name: "any", options: {} },
      kind: "image",
      mode: "text_to_image",
      prompt: "a lake",
      params: {},
      images: [],
      format: "png"
    })
    assert.strictEqual(answer, "image/png, 1000 bytes")
  }).pipe(
    Effect.provide(
      Layer.provide(
        Generators.layer({ scripted: ScriptedGenerator.layer }),
        ScriptedGenerator.layerControl({ script: { bytes: 1000, delay: "1 milli" } })
      )
    )
  ))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/job.ts"))
  }))
