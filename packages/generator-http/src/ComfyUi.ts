/**
 * Driver for a ComfyUI server of the operator. A model is a workflow in API format with
 * bindings to the inputs of its nodes.
 *
 * The id of the request is the `prompt_id`, so a request that was submitted twice is found in the
 * queue or the history. ComfyUI keeps both in memory: work is lost if the server restarts.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError, Lost } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { bind } from "./internal/bindings.ts"
import { fileNameOf, type ReadImage, readImages } from "./internal/body.ts"
import { type Ended, History, Queue, savedFile, Submitted, Uploaded, viewPath } from "./internal/comfyUi.ts"
import { connect } from "./internal/connection.ts"
import { toGenerator, toOutput } from "./internal/operations.ts"
import { serverFields } from "./internal/sharedOptions.ts"
import type * as Upstream from "./internal/upstream.ts"
import * as Workflow from "./internal/workflow.ts"
import * as UpstreamOptions from "./UpstreamOptions.ts"

/** Options of the driver. */
export const Options = Schema.Struct({
  ...serverFields,
  /** The address of the server, such as `http://gpu.internal:8188`. */
  base_url: UpstreamOptions.BaseUrl
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model: its workflow and the bindings to inputs of its nodes. */
export const ModelOptions = Workflow.Options
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { api_key, base_url, poll_interval = Duration.seconds(2), ...limits } = options
  const { download, upstream } = yield* connect({ baseUrl: base_url, apiKey: api_key }, {
    response_bytes_max: queueBytesMax,
    ...limits
  })
  const find = makeFind(upstream)
  return toGenerator({
    name: "ComfyUi",
    resubmit: "safe",
    operation: Operation,
    submit: makeSubmit(upstream, find),
    poll: ({ id }) => Effect.flatMap(find(id), (place) => statusOf(place, poll_interval)),
    cancel: ({ id }) => cancel(upstream, id),
    collect: Effect.fnUntraced(function*({ id, kind, node }) {
      const place = yield* find(id)
      const file = place._tag === "Ended" ? savedFile(place.ended, kind, node) : undefined
      if (file === undefined) return yield* failedWith("unusable")
      return toOutput(yield* download(viewPath(file)))
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  check: Workflow.problems,
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Default of `response_bytes_max`. The queue contains the workflow of every prompt. */
const queueBytesMax = 16 * 1024 * 1024

const Operation = Schema.Struct({
  driver: Schema.Literal("comfyui"),
  id: Schema.NonEmptyString,
  kind: Kind,
  node: Schema.NullOr(Schema.String)
})
type Operation = typeof Operation.Type

/** Where a prompt is. */
type Place = { readonly _tag: "Queued" | "Running" | "Absent" } | { readonly _tag: "Ended"; readonly ended: Ended }

const optionsOf = Driver.optionsOf(ModelOptions)

const failedWith = (rejection: "failed" | "unusable") => new GeneratorError({ reason: permanent(rejection) })

/** Makes a function that finds a prompt. ComfyUI moves a prompt from the queue to the history in one step. */
const makeFind = (upstream: Upstream.Upstream) => {
  const findEnded = (id: string): Effect.Effect<Place | undefined, GeneratorError> =>
    Effect.map(
      upstream.call({ method: "GET", target: `/history/${encodeURIComponent(id)}` }, History),
      (history) => {
        const ended = Object.hasOwn(history, id) ? history[id] : undefined
        return ended === undefined ? undefined : { _tag: "Ended", ended }
      }
    )

  return Effect.fnUntraced(function*(id: string): Effect.fn.Return<Place, GeneratorError> {
    const ended = yield* findEnded(id)
    if (ended !== undefined) return ended
    const { queue_pending, queue_running } = yield* upstream.call({ method: "GET", target: "/queue" }, Queue)
    if (queue_running.some(([, queued]) => queued === id)) return { _tag: "Running" }
    if (queue_pending.some(([, queued]) => queued === id)) return { _tag: "Queued" }
    // The prompt may have ended between the two calls.
    return (yield* findEnded(id)) ?? { _tag: "Absent" }
  })
}

const makeSubmit = (upstream: Upstream.Upstream, find: ReturnType<typeof makeFind>) => {
  const upload = (name: string) => (image: ReadImage, index: number) => {
    const file = { fileName: fileNameOf(`${name}-${index + 1}`, image.mime), mime: image.mime, bytes: image.bytes }
    const form = [{ name: "image", ...file }, { name: "overwrite", value: "true" }]
    return Effect.map(
      upstream.call({ method: "POST", target: "/upload/image", body: { form }, repeat: "safe" }, Uploaded),
      ({ name, subfolder = "" }) => subfolder === "" ? name : `${subfolder}/${name}`
    )
  }

  return Effect.fnUntraced(function*(request: GenerationRequest) {
    const { id, kind } = request
    const { bindings, output_node: node = null, workflow } = yield* optionsOf(request)
    const operation: Operation = { driver: "comfyui", id, kind, node }
    if ((yield* find(id))._tag !== "Absent") return operation
    yield* Workflow.checkImages(request, bindings)
    const names = yield* Effect.forEach(yield* readImages(request), upload(fileNameFor(id)))
    const prompt = Workflow.fill(workflow, bind(bindings, request, names))
    const { prompt_id } = yield* upstream.call({
      method: "POST",
      target: "/prompt",
      body: { json: { prompt, prompt_id: id, client_id: id } },
      // A repeated submit finds the prompt of the first.
      repeat: "safe",
      // ComfyUI rejects workflows, which the operator writes. Clients cannot correct them.
      reasonOf: ({ status }) => status === 400 ? permanent("failed") : undefined
    }, Submitted)
    if (prompt_id === id) return operation
    // Old releases choose the id. Without an id of ours, a second submit would start the work again.
    yield* Effect.logError("ComfyUI ignores prompt_id. Update it to a release that accepts the id of the client")
    yield* Effect.ignore(cancel(upstream, prompt_id))
    return yield* failedWith("unusable")
  })
}

const statusOf = (place: Place, pollInterval: Duration.Duration): Effect.Effect<Generator.Status, GeneratorError> => {
  if (place._tag === "Absent") return Effect.fail(new GeneratorError({ reason: new Lost() }))
  if (place._tag !== "Ended") return Effect.succeed(Generator.pending(pollInterval))
  switch (place.ended.status?.status_str ?? "success") {
    case "success":
      return Effect.succeed(Generator.succeeded)
    case "error":
      return Effect.succeed(Generator.failed(permanent("failed")))
    default:
      return Effect.succeed(Generator.pending(pollInterval))
  }
}

/** Deletes a prompt from the queue, or interrupts it if it runs. */
const cancel = Effect.fnUntraced(function*(upstream: Upstream.Upstream, id: string) {
  const post = (target: string, json: Schema.Json) =>
    upstream.tell({ method: "POST", target, body: { json }, repeat: "safe" })
  yield* post("/queue", { delete: [id] })
  const { queue_running } = yield* upstream.call({ method: "GET", target: "/queue" }, Queue)
  // Old releases ignore the id and interrupt whatever runs, so the call is made only if this prompt runs.
  if (queue_running.some(([, running]) => running === id)) yield* post("/interrupt", { prompt_id: id })
})

/** Returns the name of a file for the input image of a request. Ids may contain characters that file names cannot. */
const fileNameFor = (id: string) => `kinora-${createHash("sha256").update(id).digest("hex").slice(0, 32)}`
