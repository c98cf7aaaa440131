/** The configurations of `examples/models`. */
import { assert, it } from "@effect/vitest"
import { Generators } from "@kinora/generator"
import { Context, Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import * as Drivers from "../src/Drivers.ts"
import * as Settings from "../src/Settings.ts"

const environment = {
  COMFYUI_URL: "http://127.0.0.1:8188",
  VLLM_OMNI_URL: "http://127.0.0.1:8091/v1",
  REPLICATE_API_TOKEN: "token",
  FAL_KEY: "key",
  OPENAI_API_KEY: "key",
  INNER_URL: "http://127.0.0.1:4747",
  INNER_API_KEY: "key"
}

for (const name of ["comfyui", "vllm-omni", "replicate", "fal", "openai", "kinora"]) {
  it.effect(`starts the driver of examples/models/${name} with its models`, () =>
    Effect.gen(function*() {
      const path = fileURLToPath(new URL(`../../../examples/models/${name}/kinora.config.yaml`, import.meta.url))
      const settings = yield* Settings.load({ ...environment, KINORA_CONFIG: path })
      const context = yield* Layer.build(Drivers.layer(settings))
      assert.include(Context.get(context, Generators.Generators).names, name)
    }))
}
