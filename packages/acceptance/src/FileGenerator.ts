/** A generator that returns given files, one per model, and the models that use it. */
import type { ModelInput } from "@kinora/catalog/Model"
import { Generator, GeneratorError } from "@kinora/generator"
import { Effect, Layer, Option, Schema, Stream } from "effect"

/** Result of every job of a model. */
export interface GivenFile {
  readonly mime: "image/png" | "video/mp4"
  readonly bytes: Uint8Array
}

/** Models that cost one credit in either plan group. Their ids are the keys of `files`. */
export const models = (files: Readonly<Record<string, GivenFile>>): ReadonlyArray<ModelInput> =>
  Object.entries(files).map(([id, { mime }]): ModelInput => ({
    id,
    name: id,
    kind: mime === "image/png" ? "image" : "video",
    studio_eligible: true,
    capabilities: [mime === "image/png" ? "text_to_image" : "text_to_video"],
    max_prompt_chars: 1000,
    params_schema: [],
    price_table: [{ params: {}, credits: 1 }],
    driver: { name: "local", options: {} },
    time_limit: "1 minute",
    output_formats: [mime]
  }))

/** Completes every job at once with the file of its model. */
export const layer = (files: Readonly<Record<string, GivenFile>>): Layer.Layer<Generator.Generator> =>
  Layer.succeed(Generator.Generator, {
    resubmit: "safe",
    submit: ({ model }) => Effect.succeed(model.name),
    poll: () => Effect.succeed(Generator.succeeded),
    cancel: () => Effect.void,
    collect: (operation) =>
      Option.match(fileOf(files, operation), {
        onNone: () => Effect.fail(new GeneratorError.GeneratorError({ reason: unknown })),
        onSome: ({ bytes, mime }) => Effect.succeed({ mime, body: Stream.succeed(bytes) })
      })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const fileOf = (files: Readonly<Record<string, GivenFile>>, operation: Generator.Operation) =>
  Option.flatMap(Schema.decodeUnknownOption(Schema.String)(operation), (name) => Option.fromUndefinedOr(files[name]))

const unknown = new GeneratorError.Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "There is no such file."
})
