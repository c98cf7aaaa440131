/**
 * Driver for Runway. The API has no idempotency. Input images are sent as `data:` URLs in the
 * request, which Runway limits to 5 MB each.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind, type Mode } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema } from "effect"
import { bind, bindingProblems, ownInputProblems, withPrompt } from "./internal/bindings.ts"
import { dataUrlOf, readImages } from "./internal/body.ts"
import { connectToJobs } from "./internal/connection.ts"
import { collectFrom, ignoreRejection, makeStatusOf, toGenerator } from "./internal/operations.ts"
import { resultUrl } from "./internal/resultUrl.ts"
import { driverFields, namedModelFields } from "./internal/sharedOptions.ts"
import * as Upstream from "./internal/upstream.ts"

/** Options of the driver. `base_url` is `https://api.dev.runwayml.com/v1` by default, and `poll_interval` 5 seconds. */
export const Options = Schema.Struct(driverFields)
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. `model` is its name, such as `gen4.5`. */
export const ModelOptions = Schema.Struct(namedModelFields)
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { download, pollInterval, upstream } = yield* connectToJobs(options, {
    baseUrl: "https://api.dev.runwayml.com/v1",
    pollInterval: Duration.seconds(5)
  })
  const get = (id: string) => upstream.call({ method: "GET", target: targetOf(id), headers: version }, Task)
  return toGenerator({
    name: "Runway",
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: ({ id }) => Effect.map(get(id), (task) => statusOf(task, pollInterval)),
    // Runway deletes the result of a task that has ended.
    cancel: ({ id }) =>
      ignoreRejection(Effect.flatMap(get(id), (task) =>
        statusOf(task, pollInterval)._tag === "Pending"
          ? upstream.tell({ method: "DELETE", target: targetOf(id), headers: version })
          : Effect.void)),
    collect: ({ id, kind }) => Effect.flatMap(get(id), ({ output }) => collectFrom(download, resultUrl(output, kind)))
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  check: (model, { bindings = [] }) => [
    ...bindingProblems(model, bindings),
    ...ownInputProblems(bindings, ownInputs),
    ...(model.capabilities.includes("image_to_video") && model.max_reference_images > 1
      ? [{ path: ["max_reference_images"], message: "must be 1 for image_to_video" }]
      : [])
  ],
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("runway"), id: Upstream.UpstreamId, kind: Kind })
type Operation = typeof Operation.Type

/** The version of the API, which every request names. */
const version = { "x-runway-version": "2024-11-06" }

/** Response of a submit. */
const Submitted = Schema.Struct({ id: Upstream.UpstreamId })

/** A task. Fields that the driver does not read are ignored. */
const Task = Schema.Struct({
  status: Schema.String,
  /** From 0 to 1. */
  progress: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  failureCode: Schema.optionalKey(Schema.NullOr(Schema.String)),
  output: Schema.optionalKey(Schema.Unknown)
})

const optionsOf = Driver.optionsOf(ModelOptions)

const targetOf = (id: string) => `/tasks/${encodeURIComponent(id)}`

/** Names of inputs that the driver sends itself. */
const ownInputs = ["model", "promptImage", "referenceImages"]

const targets: Readonly<Record<Mode, string>> = {
  text_to_image: "/text_to_image",
  image_to_image: "/text_to_image",
  text_to_video: "/text_to_video",
  image_to_video: "/image_to_video"
}

/** Returns the inputs for the input images of a mode. */
const imageInputs = (mode: Mode, [first, ...others]: ReadonlyArray<string>): Readonly<Record<string, Schema.Json>> => {
  if (first === undefined) return {}
  return mode === "image_to_video"
    ? { promptImage: first }
    : { referenceImages: [first, ...others].map((uri) => ({ uri })) }
}

const makeSubmit = (upstream: Upstream.Upstream) =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], input: constants = {}, model } = yield* optionsOf(request)
    const images = (yield* readImages(request)).map(dataUrlOf)
    const bound = bind(withPrompt(bindings, "promptText"), request, images)
    const json = {
      ...constants,
      ...Object.fromEntries(bound.map(({ to, value }) => [to, value] as const)),
      model,
      ...imageInputs(request.mode, images)
    }
    const call = { method: "POST", target: targets[request.mode], headers: version, body: { json } } as const
    const { id } = yield* upstream.call(call, Submitted)
    const operation: Operation = { driver: "runway", id, kind: request.kind }
    return operation
  })

const statusOf = makeStatusOf({
  succeeded: "SUCCEEDED",
  failed: ["FAILED", "CANCELLED"],
  failureOf: ({ failureCode }: typeof Task.Type) => permanent(rejectionOf(failureCode ?? "")),
  progressOf: ({ progress }) => progress
})

const rejectionOf = (failureCode: string) => {
  if (failureCode.startsWith("SAFETY")) return "moderated"
  return failureCode === "ASSET.INVALID" ? "invalid" : "failed"
}
