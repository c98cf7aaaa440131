/** What travels, as the contract has it: times are RFC 3339 text, and nothing is converted on the way. */
import type * as Contract from "@kinora/http-api"

/** A job. Everything is always present, `null` where it does not apply, except `next`. */
export type Generation = typeof Contract.Generation.Generation.Encoded

/** A job that is done: it has a result, until that expires. */
export type CompletedGeneration = Generation & { readonly status: "completed" }

/** A request for a job. Which parameters a model takes is in its `params_schema`. */
export type CreateGenerationRequest = typeof Contract.Generation.CreateGenerationRequest.Encoded

/** A page of jobs, newest first. */
export type GenerationList = typeof Contract.Generation.GenerationList.Encoded

/** A request for one image, in the shape of common client libraries. */
export type ImageRequest = typeof Contract.Image.ImageRequest.Encoded

/** One image: `url` or `b64_json`, as it was asked for. */
export type ImageResponse = typeof Contract.Image.ImageResponse.Encoded

/** An image that jobs can start from; `id` goes into `upload_id` of an input image. */
export type Upload = typeof Contract.Upload.Upload.Encoded

/** A model on sale. */
export type Model = typeof Contract.Model.Model.Encoded

/** The account of the API key: both plan groups, their limits, and what it may download. */
export type Account = typeof Contract.Account.Account.Encoded

/** What the account's jobs came to, by UTC day of their end. */
export type UsageReport = typeof Contract.Usage.UsageReport.Encoded

/** The plan group that a job is charged to. */
export type Plan = Contract.Scalar.Plan

/** What is produced. */
export type Kind = Generation["kind"]

/** The states of a job; the last three are final. */
export type Status = Generation["status"]

/** The codes with which the service refuses a request. */
export type ErrorCode = Contract.ErrorCode.ErrorCode

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
