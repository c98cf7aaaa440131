import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Console, Effect, Layer, Option, Stream } from "effect"

const program = Effect.gen(function*() {
  const generator = Option.getOrThrow((yield* Generators.Generators).get("scripted"))
  const operation = yield* generator.submit({
    id: "job-1",
    model: { name: "any", options: {} },
    kind: "image",
    mode: "text_to_image",
    prompt: "a lake",
    params: {},
    images: [],
    format: "png"
  })

  // A worker stores the operation here. Any process can continue from it.
  let status = yield* generator.poll(operation)
  while (status._tag === "Pending") {
    yield* Effect.sleep(status.after)
    status = yield* generator.poll(operation)
  }

  const output = yield* generator.collect(operation)
  const bytes = yield* Stream.runFold(output.body, () => 0, (total, part: Uint8Array) => total + part.length)
  yield* Console.log(status._tag, output.mime, bytes)
})

const layer = Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
  Layer.provide(ScriptedGenerator.layerControl({ script: { delay: "10 millis", bytes: 1000 } }))
)

await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
// Succeeded image/png 1000
