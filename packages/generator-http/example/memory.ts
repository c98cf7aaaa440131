import { Generator } from "@kinora/generator"
import { OpenAiImages } from "@kinora/generator-http"
import { Console, Effect, Stream } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// Stands for the upstream: every response is the same picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const upstream = createServer((_, response) => response.end(JSON.stringify({ data: [{ b64_json: pixel }] })))
await once(upstream.listen(0, "127.0.0.1"), "listening")
const { port } = upstream.address() as AddressInfo

const program = Effect.gen(function*() {
  const generator = yield* Generator.Generator
  const operation = yield* generator.submit({
    id: "example",
    model: { name: "openai", options: { model: "gpt-image-1" } },
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

const layer = OpenAiImages.layer({ base_url: `http://127.0.0.1:${port}/v1` })
await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
upstream.close()
// image/png 70
