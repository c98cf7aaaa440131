/** The calls of a client. */
import type { Generations } from "./Generations.ts"
import type { CallOptions, CreateOptions, DownloadOptions } from "./Options.ts"
import type { Result } from "./Result.ts"
import type { Uploads } from "./Uploads.ts"
import type {
  Account,
  CreateGenerationRequest,
  Generation,
  ImageRequest,
  ImageResponse,
  Model,
  UsageReport
} from "./Wire.ts"

/** Options of `Kinora.generate`. `timeoutMillis` limits creating and waiting together. */
export interface GenerateOptions extends CreateOptions {
  /** Called with the job when it is created and each time its status changes, including the final status. */
  readonly onUpdate?: ((generation: Generation) => void) | undefined
}

/** Calls of `Kinora.images`. */
export interface Images {
  /**
   * Creates one image and waits for it. While the job runs, the request is repeated with the same key for up to
   * `timeoutMillis`. After that the promise rejects with `generation_pending`, whose `details.generation_id` is the job.
   */
  readonly generate: (request: ImageRequest, options?: CreateOptions) => Promise<ImageResponse>
}

/** Calls of `Kinora.models`. */
export interface Models {
  /** Returns all models on sale. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<Model>>
  /** Returns a model. Rejects with `model_not_found` if it is not on sale. */
  readonly get: (id: string, options?: CallOptions) => Promise<Model>
}

/** A range of UTC days, `YYYY-MM-DD`, both inclusive, of at most 31 days. Default: the last 7 days. */
export interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** `key` also groups the rows by API key. */
  readonly group_by?: "key" | undefined
}

/** Calls of `Kinora.account`. */
export interface AccountReports {
  /** Returns plans, balances and limits. */
  readonly get: (options?: CallOptions) => Promise<Account>
  /** Returns jobs by the UTC day of their end, plan group, model and kind. */
  readonly usage: (days?: Days, options?: CallOptions) => Promise<UsageReport>
}

/** All calls of `Kinora`. Promises reject with a `KinoraError`, or with the reason of the signal that ended them. */
export interface Calls {
  /**
   * Creates a job, waits for it and returns its result. If the job fails or is cancelled, the promise rejects with
   * `GenerationError`. All requests of the call share one idempotency key, so the job is charged once. Errors after the
   * creation have the `generationId` of the job.
   */
  readonly generate: (request: CreateGenerationRequest, options?: GenerateOptions) => Promise<Result>
  /** Jobs, one step at a time. */
  readonly generations: Generations
  /** Images, in the request shape of common client libraries. */
  readonly images: Images
  /** Input images for jobs. */
  readonly uploads: Uploads
  /** Models on sale. */
  readonly models: Models
  /** The account and its usage. */
  readonly account: AccountReports
  /**
   * Downloads a URL that the service returned, such as `output.url`, `preview_url` or the `url` of an image. The key is sent
   * only if the URL is below `baseUrl`. Rejects with `TypeError` if it is not an http or https URL.
   */
  readonly download: (url: string | URL, options?: DownloadOptions) => Promise<Response>
}
