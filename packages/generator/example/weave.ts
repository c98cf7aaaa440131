import { Driver, Generator, GeneratorError } from "@kinora/generator"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { crc32 } from "node:zlib"
import { picture, side } from "./picture.ts"

/** `driver.options` of a model. */
const ModelOptions = Schema.Struct({ thread: Schema.Literals(["red", "green", "blue"]) })
const optionsOf = Driver.optionsOf(ModelOptions)

/** The operation. It contains everything that the picture needs, so that every process can continue from it. */
const Weaving = Schema.Struct({ id: Schema.String, pattern: Schema.Int, thread: ModelOptions.fields.thread })
const decode = Schema.decodeUnknownOption(Weaving)

const unknown = new GeneratorError.Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "Unknown work."
})

const weave: Generator.Generator["Service"] = {
  resubmit: "safe",
  submit: (request) =>
    Effect.map(
      optionsOf(request),
      ({ thread }) => ({ id: request.id, pattern: crc32(request.id + request.prompt), thread })
    ),
  poll: (operation) =>
    Effect.succeed(Option.isSome(decode(operation)) ? Generator.succeeded : Generator.failed(unknown)),
  cancel: () => Effect.void,
  collect: (operation) =>
    Effect.fromOption(decode(operation)).pipe(
      Effect.mapError(() => new GeneratorError.GeneratorError({ reason: unknown })),
      Effect.map((weaving) => ({ mime: "image/png", width: side, height: side, body: Stream.make(picture(weaving)) }))
    )
}

export default Driver.make({
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_image"], outputFormats: ["image/png"], params: {} },
  layer: () => Layer.succeed(Generator.Generator, weave)
})
