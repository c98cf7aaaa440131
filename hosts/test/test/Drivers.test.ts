import { assert, it } from "@effect/vitest"
import { DefaultModels } from "@kinora/catalog"
import { Driver, Generator } from "@kinora/generator"
import { Effect, Layer, Schema, Stream } from "effect"
import type { RunningHost } from "../src/RunningHost.ts"
import * as TestHost from "../src/TestHost.ts"

const models = [DefaultModels.draft, { ...DefaultModels.draft, id: "echo-1", driver: { name: "echo" } }]

/** A driver whose result is the picture of its options. */
const echo = Driver.make({
  options: Schema.Struct({ png: Schema.Uint8ArrayFromBase64 }),
  layer: ({ png }) =>
    Layer.succeed(Generator.Generator, {
      resubmit: "safe",
      submit: () => Effect.succeed("echo"),
      poll: () => Effect.succeed(Generator.succeeded),
      cancel: () => Effect.void,
      collect: () => Effect.succeed({ mime: "image/png", width: 1, height: 1, body: Stream.make(png) })
    })
})

/** A picture of one pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const run = async (kinora: RunningHost, model: string) => {
  const created = await kinora.fetch("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ plan: "credits", model, params: { prompt: "a lake" } })
  })
  const { id } = await created.json() as { readonly id: string }
  assert.strictEqual(await kinora.settled(id), "completed")
  const { output } = await (await kinora.fetch(`/v1/generations/${id}`)).json() as {
    readonly output: { readonly url: string }
  }
  const response = await kinora.fetch(output.url)
  return Buffer.from(await response.arrayBuffer()).toString("base64")
}

it("runs models on the drivers of the test, and the others on the scripted driver", async () => {
  await using kinora = await TestHost.start({ models, drivers: { echo: { driver: echo, options: { png } } } })
  assert.strictEqual(await run(kinora, "echo-1"), png)
  assert.notStrictEqual(await run(kinora, "kinora-draft"), png)
})

it("rejects a driver with invalid options", async () => {
  const error = await TestHost.start({ models, drivers: { echo: { driver: echo } } }).then(() => undefined, String)
  assert.include(error, "drivers.echo.options.png: must be given")
})
