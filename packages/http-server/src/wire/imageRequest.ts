/** Validation of requests of the image endpoint. See docs/reference/http-api.md#image-endpoint. */
import { AspectRatio, type Issue, Model } from "@kinora/catalog"
import { type ApiError, make } from "@kinora/http-api/ApiError"
import type { ImageRequest } from "@kinora/http-api/Image"
import { Option, Result, type Schema } from "effect"
import type { Wanted } from "../middleware/creation.ts"

/** A request whose properties are valid, apart from those that depend on the model. */
export interface Asked {
  readonly model: string
  readonly prompt: string
  readonly plan: Wanted["plan"] | undefined
  readonly size: AspectRatio.Size | undefined
  readonly isHd: boolean
  /** `output_format`. */
  readonly outputFormat: string | undefined
  readonly format: Model.ResponseFormat | undefined
  /** The body without absent properties. Requests with equal bodies are the same request. */
  readonly body: Schema.JsonObject
}

/** Validates the properties of a request, then that body and header name the same plan group. */
export const check = (request: ImageRequest, header: string | undefined): Result.Result<
  Asked,
  ApiError<"invalid_params"> | ApiError<"plan_conflict">
> => {
  const { model, n, output_format, plan, prompt, quality, response_format, size, stream } = request
  const issues: Array<Issue.Issue> = []
  const expect = (isGood: boolean, name: string, message: string) => {
    if (!isGood) issues.push({ path: [name], message })
  }
  expect(isAbsent(n) || n === 1, "n", "must be 1; send one request per image")
  expect(isAbsent(plan) || isPlan(plan), "plan", "must be studio or credits")
  expect(isAbsent(header) || isPlan(header), "X-Plan", "must be studio or credits")
  expect(isAbsent(response_format) || isFormat(response_format), "response_format", "must be url or b64_json")
  expect(
    isAbsent(size) || size === "auto" || Option.isSome(AspectRatio.parseSize(size)),
    "size",
    "must be auto or <width>x<height>"
  )
  expect(stream !== true, "stream", "must be false; streaming is not supported")
  if (issues.length > 0) return Result.fail(invalidParams(issues))
  if (isPlan(plan) && isPlan(header) && plan !== header) return Result.fail(planConflict)
  const chosen = isPlan(plan) ? plan : isPlan(header) ? header : undefined
  return Result.succeed({
    model,
    prompt,
    plan: chosen,
    size: isAbsent(size) ? undefined : Option.getOrUndefined(AspectRatio.parseSize(size)),
    outputFormat: output_format ?? undefined,
    isHd: quality === "hd",
    format: isFormat(response_format) ? response_format : undefined,
    body: bodyOfRequest(request, chosen)
  })
}

/** Returns the job to create with a model. Without a plan, models that Studio does not include use credits. */
export const resolve = (asked: Asked, model: Model.Model): Result.Result<
  Wanted,
  ApiError<"invalid_params"> | ApiError<"model_kind_mismatch"> | ApiError<"plan_required">
> => {
  if (model.kind !== "image") {
    return Result.fail(make("model_kind_mismatch", { details: { model: model.id } }))
  }
  const { outputFormat } = asked
  if (outputFormat !== undefined && !(model.output_formats.every((made) => made === `image/${outputFormat}`))) {
    return Result.fail(invalidParams([{ path: ["output_format"], message: outputFormatMessage(model) }]))
  }
  if (asked.plan === undefined && model.studio_eligible) {
    return Result.fail(make("plan_required", { details: { model: model.id } }))
  }
  const ratio = asked.size === undefined ? undefined : Option.getOrUndefined(AspectRatio.nearest(model, asked.size))
  return Result.succeed({
    plan: asked.plan ?? "credits",
    // An alias keeps its defaults.
    model: asked.model,
    params: {
      prompt: asked.prompt,
      ...(ratio === undefined ? {} : { [AspectRatio.paramName]: ratio }),
      ...(asked.isHd && Model.accepts(model, "resolution", "2k") ? { resolution: "2k" } : {})
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `null` counts as absent. */
const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined

const isPlan = (value: string | null | undefined): value is Wanted["plan"] => value === "studio" || value === "credits"

const isFormat = (value: string | null | undefined): value is Model.ResponseFormat =>
  value === "url" || value === "b64_json"

/** A model with several formats chooses among them, so none can be requested. */
const outputFormatMessage = ({ output_formats: [made, ...others] }: Model.Model) =>
  made !== undefined && others.length === 0
    ? `must be ${made.slice("image/".length)}, the format of this model`
    : "must be absent; this model chooses the format"

const planConflict = make("plan_conflict")

const invalidParams = (issues: ReadonlyArray<Issue.Issue>) =>
  make("invalid_params", {
    details: { issues: issues.map(({ message, path }) => ({ path: path.join("."), message })) }
  })

/** The plan group counts whether body or header names it. `endpoint` separates the bodies of both endpoints. */
const bodyOfRequest = (request: ImageRequest, plan: Wanted["plan"] | undefined): Schema.JsonObject => {
  const { plan: _, ...rest } = request
  const present = Object.entries(rest).filter((entry): entry is [string, Schema.Json] => !isAbsent(entry[1]))
  return { endpoint: "images", plan: plan ?? null, request: Object.fromEntries(present) }
}
