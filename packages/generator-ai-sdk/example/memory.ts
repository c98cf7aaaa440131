import { Generator } from "@kinora/generator"
import { AiSdk } from "@kinora/generator-ai-sdk"
import { Console, Effect, Stream } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// Stands for the provider: every response is the same picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const provider = createServer((_, response) => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ data: [{ b64_json: pixel }] }))
})
await once(provider.listen(0, "127.0.0.1"), "listening")
const { port } = provider.address() as AddressInfo

const program = Effect.gen(function*() {
  const generator = yield* Generator.Generator
  const operation = yield* generator.submit({
    id: "example",
    model: { name: "vendor", options: { model: "gpt-image-1" } },
    kind: "image",
    mode: "text_to_image",
    prompt: "a lake",
    params: {},
    images: [],
    format: "png"
  })
  const { body, mime } = yield* generator.collect(operation)
  yield* Console.log(mime, (yield* Stream.mkUint8Array(body)).length)
})

const layer = AiSdk.layer({
  module: "@ai-sdk/openai",
  export: "createOpenAI",
  options: { apiKey: "a key", baseURL: `http://127.0.0.1:${port}/v1` }
})
await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
provider.close()
provider.closeIdleConnections()
// image/png 70
