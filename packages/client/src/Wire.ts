/** JSON of requests and responses, as the contract defines it. Times are RFC 3339 strings; nothing is converted. */
import type * as Contract from "@kinora/http-api"

/** A job. All fields are present except `next`; those that do not apply are `null`. */
export type Generation = typeof Contract.Generation.Generation.Encoded

/** A completed job. It has a result until that expires. */
export type CompletedGeneration = Generation & { readonly status: "completed" }

/** Request to create a job. The model's `params_schema` lists its parameters. */
export type CreateGenerationRequest = typeof Contract.Generation.CreateRequest.Encoded

/** A page of jobs, newest first. */
export type GenerationList = typeof Contract.Generation.GenerationList.Encoded

/** Request to create one image, in the shape of common client libraries. */
export type ImageRequest = typeof Contract.Image.ImageRequest.Encoded

/** One image: `url` or `b64_json`, depending on `response_format`. */
export type ImageResponse = typeof Contract.Image.ImageResponse.Encoded

/** An uploaded image. Its `id` is the `upload_id` of an input image. */
export type Upload = typeof Contract.Upload.Upload.Encoded

/** A model on sale. */
export type Model = typeof Contract.Model.Model.Encoded

/** The account of the API key: both plan groups, their limits, and its download limits. */
export type Account = typeof Contract.Account.Account.Encoded

/** Jobs and credits by the UTC day on which the jobs ended. */
export type UsageReport = typeof Contract.Usage.UsageReport.Encoded

/** Plan group that a job is charged to. */
export type Plan = Contract.Scalar.Plan

/** Kind of a result. */
export type Kind = Generation["kind"]

/** Status of a job. The last three are final. */
export type Status = Generation["status"]

/** Code of an error response. */
export type ErrorCode = Contract.ErrorCode.ErrorCode

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
