/**
 * Driver for the queue of fal. The API has no idempotency. Input images are sent as `data:`
 * URLs in the request.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import type { Permanent } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Effect, Layer, Option, Predicate, Schema } from "effect"
import { bind, inputProblems, withPrompt } from "./internal/bindings.ts"
import { dataUrlOf, readImages } from "./internal/body.ts"
import { connectToJobs } from "./internal/connection.ts"
import { codesOf, type HttpFailure, reasonOfStatus } from "./internal/failures.ts"
import { collectFrom, ignoreRejection, toGenerator } from "./internal/operations.ts"
import { callbackFields, inputFields } from "./internal/sharedOptions.ts"
import type * as Upstream from "./internal/upstream.ts"

/** Options of the driver. `base_url` is `https://queue.fal.run` by default. */
export const Options = Schema.Struct(callbackFields)
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** The id of the model, such as `fal-ai/flux/dev`. */
  model: Schema.String.check(
    Schema.isPattern(/^\w[\w.-]*(?:\/\w[\w.-]*)+$/, { expected: "the id of a model, such as fal-ai/flux/dev" })
  ),
  ...inputFields
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { download, pollInterval, upstream } = yield* connectToJobs(options, {
    baseUrl: "https://queue.fal.run",
    scheme: "Key"
  })
  const getResult = (target: string) =>
    upstream.call({ method: "GET", target, reasonOf: reasonOfResult }, Schema.Record(Schema.String, Schema.Unknown))
  return toGenerator({
    name: "Fal",
    callsBack: options.callbacks !== false,
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: Effect.fnUntraced(function*({ response, status: target }) {
      const { error, error_type, status } = yield* upstream.call({ method: "GET", target }, RequestStatus)
      if (status !== "COMPLETED") return Generator.pending(pollInterval)
      if (error !== undefined && error !== null) return Generator.failed(failureOf(error_type))
      // The status is the same for failed work. Only the response of the result URL differs.
      return yield* Effect.catch(
        Effect.as(getResult(response), Generator.succeeded),
        (failure) =>
          failure.reason._tag === "Permanent" ? Effect.succeed(Generator.failed(failure.reason)) : Effect.fail(failure)
      )
    }),
    cancel: ({ cancel: target }) => ignoreRejection(upstream.tell({ method: "PUT", target })),
    collect: Effect.fnUntraced(function*({ kind, response }) {
      const file = resultFile(yield* getResult(response), kind)
      return yield* collectFrom(download, file?.url, file?.content_type ?? undefined)
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({ options: Options, modelOptions: ModelOptions, check: inputProblems, layer })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const urlLengthMax = 2048

const UpstreamUrl = Schema.String.check(Schema.isMaxLength(urlLengthMax))

/** The URLs are those that fal returned, since they cannot be derived from the id of the model. */
const Operation = Schema.Struct({
  driver: Schema.Literal("fal"),
  kind: Kind,
  status: UpstreamUrl,
  response: UpstreamUrl,
  cancel: UpstreamUrl
})
type Operation = typeof Operation.Type

/** Response of a submit. */
const Submitted = Schema.Struct({ status_url: UpstreamUrl, response_url: UpstreamUrl, cancel_url: UpstreamUrl })

/** Response of the status URL. */
const RequestStatus = Schema.Struct({
  status: Schema.String,
  error: Schema.optionalKey(Schema.Unknown),
  error_type: Schema.optionalKey(Schema.Unknown)
})

/** A file of a result. */
const File = Schema.Struct({ url: Schema.String, content_type: Schema.optionalKey(Schema.NullOr(Schema.String)) })
type File = typeof File.Type

const optionsOf = Driver.optionsOf(ModelOptions)

const makeSubmit = (upstream: Upstream.Upstream) =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], input: constants = {}, model } = yield* optionsOf(request)
    const images = (yield* readImages(request)).map(dataUrlOf)
    const bound = bind(withPrompt(bindings), request, images).map(({ to, value }) => [to, value] as const)
    const json = { ...constants, ...Object.fromEntries(bound) }
    const { cancel_url, response_url, status_url } = yield* upstream.call(
      { method: "POST", target: `/${model}${callbackQuery(request)}`, body: { json } },
      Submitted
    )
    // Rejected before the operation is stored: the credentials are sent to these URLs.
    yield* Effect.forEach([cancel_url, response_url, status_url], upstream.resolve, { discard: true })
    const operation: Operation = {
      driver: "fal",
      kind: request.kind,
      status: status_url,
      response: response_url,
      cancel: cancel_url
    }
    return operation
  })

const callbackQuery = ({ callbackUrl }: GenerationRequest): string =>
  callbackUrl === undefined ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`

/** Returns the failure of a completed request by its `error_type`. */
const failureOf = (errorType: unknown): Permanent => {
  const codes = codesOf({ code: errorType })
  const reason = reasonOfStatus({ status: 422, retryAfter: undefined, codes, body: null }, "safe")
  return reason._tag === "Permanent" && reason.code === "content_rejected" ? reason : permanent("failed")
}

/** A model that failed responds with `detail`. Without it, the failure is one of the queue. */
const reasonOfResult = ({ body, status }: HttpFailure) =>
  status >= 500 && Predicate.hasProperty(body, "detail") ? permanent("failed") : undefined

/** Returns the first file of this kind. Models return one file or a list. */
const resultFile = (result: Readonly<Record<string, unknown>>, kind: Kind): File | undefined =>
  [result[kind], result[`${kind}s`]].flat().flatMap((file) => Option.toArray(decodeFile(file)))[0]

const decodeFile = Schema.decodeUnknownOption(File)
