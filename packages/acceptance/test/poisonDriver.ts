/**
 * A driver that ends its process with SIGKILL while it works on one prompt, like a library that crashes or needs more memory
 * than there is. All other requests succeed.
 */
import * as Driver from "@kinora/generator/Driver"
import * as Generator from "@kinora/generator/Generator"
import * as ScriptedGenerator from "@kinora/generator/ScriptedGenerator"
import { Effect, Layer, Schema } from "effect"
import { writeSync } from "node:fs"

const Options = Schema.Struct({
  /** The prompt that ends the process. */
  prompt: Schema.NonEmptyString
})

/** How long other requests take. Their first worker and the second one are lost meanwhile. */
const duration = "15 seconds"

/** How long the process works on the prompt. Other requests are polled several times meanwhile. */
const fuse = "1 second"

const make = ({ prompt }: typeof Options.Type, { generator }: ScriptedGenerator.Control["Service"]) => {
  /** Operations that were polled since the submission of the prompt. */
  const polled = new Set<string>()

  const endProcess = Effect.sync(() => {
    // Nothing of the process runs after the signal, so the line is written before.
    writeSync(2, `${JSON.stringify({ beside: polled.size })}\n`)
    process.kill(process.pid, "SIGKILL")
  })

  return Generator.Generator.of({
    ...generator,
    submit: (request) =>
      request.prompt === prompt
        ? Effect.sync(() => polled.clear()).pipe(
          Effect.andThen(Effect.delay(endProcess, fuse)),
          Effect.andThen(Effect.never)
        )
        : generator.submit(request),
    poll: (operation) => {
      polled.add(JSON.stringify(operation))
      return generator.poll(operation)
    }
  })
}

/** Before its process ends, it prints `{"beside":n}` on standard error: the number of other requests that the process worked on. */
export default Driver.make({
  options: Options,
  layer: (options) =>
    Layer.effect(Generator.Generator, Effect.map(ScriptedGenerator.Control, (control) => make(options, control))).pipe(
      Layer.provide(
        Layer.fresh(ScriptedGenerator.layerControl({ script: { delay: duration }, pollInterval: "100 millis" }))
      )
    )
})
