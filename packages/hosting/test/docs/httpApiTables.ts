/** Tables of the HTTP API. Their rows are the properties and values of its OpenAPI document. */
import { PlanTable } from "@kinora/accounts"
import { FailureCode } from "@kinora/generations/Generation"
import { OpenApiDocument } from "@kinora/http-api"
import { Record, Schema } from "effect"
import { code, rowsOf, type Table } from "./Page.ts"

interface PropertySchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<string>
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<PropertySchema>
}

const Components = Schema.Struct({
  schemas: Schema.Record(
    Schema.String,
    Schema.Struct({
      properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Any)),
      required: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )
})

const { schemas } = Schema.decodeUnknownSync(Components)(OpenApiDocument.document.components)

/** Properties of a schema of the document. */
const propertiesOf = (name: string): Readonly<Record<string, PropertySchema>> => schemas[name]?.properties ?? {}

/** Formats a type as the page has it, such as `time or null`. */
const typeOf = ({ $ref, anyOf, format, type = "" }: PropertySchema): string =>
  anyOf !== undefined
    ? anyOf.map(typeOf).join(" or ")
    : $ref !== undefined
    ? "object"
    : format === "date-time"
    ? "time"
    : type

/** The properties of a schema, with the cells between the name and the meaning of each. */
const propertyRows = (
  name: string,
  meanings: Readonly<Record<string, string>>,
  cellsOf: (property: string, schema: PropertySchema) => ReadonlyArray<string>
): Table["rows"] => {
  const properties = propertiesOf(name)
  return rowsOf(
    Object.keys(properties),
    Record.map(meanings, (meaning, property) => [...cellsOf(property, properties[property] ?? {}), meaning])
  )
}

/** The properties of a schema with their types. */
const fieldsOf = (name: string, meanings: Readonly<Record<string, string>>): Table => ({
  head: ["field", "type", "meaning"],
  rows: propertyRows(name, meanings, (_, schema) => [typeOf(schema)])
})

/** The same, with whether a request needs the property. */
const requestFieldsOf = (name: string, meanings: Readonly<Record<string, string>>): Table => {
  const required = schemas[name]?.required ?? []
  return {
    head: ["field", "type", "required", "meaning"],
    rows: propertyRows(
      name,
      meanings,
      (property, schema) => [typeOf(schema), required.includes(property) ? "yes" : "no"]
    )
  }
}

const { credits, free, studio } = PlanTable.defaults

/** Limits of the tiers. */
export const plans: Table = {
  head: ["group", "tier", "creations per minute", "jobs running at once"],
  rows: [
    ...Object.entries(studio).map(([tier, limits]) => [code("studio"), tier, limits] as const),
    ...Object.entries(credits).map(([tier, limits]) => [code("credits"), tier, limits] as const),
    ["no plan", "free", free] as const
  ].map(([group, tier, { concurrency, createRpm }]) => [group, code(tier), String(createRpm), String(concurrency)])
}

/** The job object. */
export const job = fieldsOf("Generation", {
  id: "`gen_…`",
  model: "id of the model",
  kind: "`image` or `video`",
  mode: "`text_to_image`, `image_to_image`, `text_to_video` or `image_to_video`",
  plan: "group that was charged",
  status: "see [states](#job-states)",
  prompt: "the prompt",
  params: "the parameters, with the model's defaults filled in; see below",
  cost_credits: "credits charged; `null` for `studio`",
  quota_kind: "`image` or `video` for `studio`, `null` for `credits`",
  watermark: "always `false` for jobs created through the API",
  refunded: "whether the charge was returned",
  error_code: "`error.code`",
  error: "why the job failed; see below",
  output: "the result; `null` until the job completes and again after the download window",
  preview_url: "images: signed URL of a WebP with at most 1024 px on the long side",
  thumb_url: "signed URL of a WebP with at most 256 px on the long side",
  poster_url: "videos: signed URL of the first frame",
  result_expires_at: "end of the download window",
  queued_at: "when the service accepted the job; equal to `created_at`",
  started_at: "when a worker first started it",
  finished_at: "when it reached a final status",
  created_at: "when the service accepted the job",
  next: "only until the job is final: `action` (`poll`) and `after_seconds`"
})

/** Codes of failed jobs. */
export const failures: Table = {
  head: ["`error.code`", "the job failed because"],
  rows: rowsOf(FailureCode.literals, {
    generation_failed: "the generator could not make the result",
    content_rejected:
      "the generator rejected the prompt or an image, or a moderation of the operator rejected the result",
    invalid_input: "the generator cannot process the input",
    upstream_error:
      "the provider behind the generator failed, or its result is not a complete file of the kind of the model",
    upstream_timeout: "the provider did not respond in time",
    time_limit: "it ran longer than its model allows",
    worker_lost: "the workers that ran it were lost three times",
    queue_timeout: "it did not start within 24 hours",
    model_withdrawn: "its model was withdrawn before it started"
  })
}

/** The body that creates a job. */
export const creation = requestFieldsOf("CreateGenerationRequest", {
  plan: "group to charge: `studio` or `credits`",
  model: "id from the [model list](#models)",
  params: "see [parameters](#parameters)"
})

/** Parameters of a job. */
export const params = requestFieldsOf("Params", {
  prompt: "at most `max_prompt_chars` Unicode code points of the model",
  aspect_ratio: "one of the model's `values`",
  duration: "seconds, for video models",
  mode: "one of the model's `capabilities`; derived from the kind and `images` if missing",
  resolution: "one of the model's `values`",
  images: "[input images](#input-images), at most `max_reference_images`"
})

/** An input image. */
export const inputImage = fieldsOf("InputImage", {
  data: "the image in base64, or as a `data:` URL with base64",
  mime: "media type; if given, it must match the content",
  upload_id: "id of an [upload](#uploads) of the account"
})

/** An upload. */
export const upload = fieldsOf("Upload", {
  id: "`upl_…`",
  mime: "media type by content",
  bytes: "size of the stored image, which is re-encoded",
  width: "pixels",
  height: "pixels",
  expires_at: "24 hours after the upload"
})

/** States of a job. */
export const states: Table = {
  head: ["status", "meaning", "final"],
  rows: rowsOf(propertiesOf("Generation")["status"]?.enum ?? [], {
    pending: ["waits for a free slot of its account and plan group", "no"],
    queued: ["holds a slot and waits for a worker", "no"],
    processing: ["holds a slot and runs", "no"],
    completed: ["finished; the result can be downloaded during the download window", "yes"],
    failed: ["failed and was refunded", "yes"],
    cancelled: ["cancelled before it started, and was refunded", "yes"]
  })
}

const queryOf = (path: "/v1/generations") =>
  (OpenApiDocument.document.paths[path]?.get?.parameters ?? []).filter((parameter) => parameter.in === "query")
    .map(({ name }) => name)

/** Filters of the list of jobs. */
export const filters: Table = {
  head: ["query", "meaning"],
  rows: rowsOf(queryOf("/v1/generations"), {
    status: "only jobs with this status",
    kind: "only `image` or `video`",
    plan: "only `studio` or `credits`",
    model: "only jobs that were created for the model with this id",
    key: "only jobs that the API key with this id created",
    from: "only jobs created at this time or later, such as `2026-11-21T00:00:00Z`",
    to: "only jobs created before this time",
    q: "only jobs whose prompt contains this text, of 1 to 100 characters",
    limit: "jobs per page, 1 to 100; default 20",
    cursor: "`next_cursor` of the previous page"
  })
}

/** The body of the image endpoint. */
export const imageRequest = requestFieldsOf("ImageRequest", {
  model: "id of an image model",
  prompt: "",
  n: "must be 1",
  plan: "`studio` or `credits`",
  quality: "`hd` selects the resolution `2k` if the model has it; other values are ignored",
  response_format: "`url` or `b64_json`. The default is `url`, unless the operator configured the model otherwise",
  output_format: "must be the format of the model, such as `png`; absent if the model has several formats",
  size: "`auto` or `<W>x<H>`, mapped to the model's nearest aspect ratio; `auto` and no value select its default",
  user: "ignored",
  stream: "must not be `true`: a JSON response would look like an empty stream to common clients"
})

/** A model. */
export const model = fieldsOf("PublicModel", {
  id: "the value for `model` in requests",
  name: "for people",
  kind: "`image` or `video`",
  studio_eligible: "whether the Studio plan includes the model",
  status: "`available`, `degraded` (served, slower) or `paused` (new jobs return 503 `model_unavailable`)",
  capabilities: "modes",
  max_reference_images: "input images per job",
  max_prompt_chars: "Unicode code points of a prompt",
  params_schema: "parameters: `name`, `type`, and optionally `default`, `min`, `max`, `values`",
  price_table: "prices: `params` (object) and `credits` (integer); see [parameters](#parameters)"
})
