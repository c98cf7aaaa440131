/** The client: one object per account, made once and shared. */
import type { Generations } from "./Generations.ts"
import * as Ambient from "./internal/Ambient.ts"
import { makeAll, type Parts } from "./internal/parts.ts"
import type { CallOptions, CreateOptions, DownloadOptions, Options } from "./Options.ts"
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

/** What `generate` can be told. `timeoutMillis` is for creating and waiting together. */
export interface GenerateOptions extends CreateOptions {
  /** Called with the job when it is created and each time it changes, its final state included. */
  readonly onUpdate?: ((generation: Generation) => void) | undefined
}

/** See `Kinora.images`. */
export interface Images {
  /**
   * Makes one image and waits for it. It asks again with the same key while the job goes on, up to `timeoutMillis`; then
   * it rejects with `generation_pending`, whose `details.generation_id` is the job.
   */
  readonly generate: (request: ImageRequest, options?: CreateOptions) => Promise<ImageResponse>
}

/** See `Kinora.models`. */
export interface Models {
  /** All models on sale. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<Model>>
  readonly get: (id: string, options?: CallOptions) => Promise<Model>
}

/** UTC days, `YYYY-MM-DD`, both included; at most 31. Default: the last 7 days. */
export interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** See `Kinora.account`. */
export interface AccountReports {
  readonly get: (options?: CallOptions) => Promise<Account>
  /** Jobs by the UTC day of their end, plan group, model and kind. */
  readonly usage: (days?: Days, options?: CallOptions) => Promise<UsageReport>
}

/**
 * A client of one service and account. Promises reject with a `KinoraError`, or with the reason of the
 * signal that ended them. Printing a client does not show its key.
 */
export class Kinora {
  /**
   * Creates a job, waits for it and answers with its result. A job that ends without one rejects with `GenerationError`.
   * The call has one idempotency key, so it is charged once, however often it has to ask. Other errors after the job was
   * created carry its `generationId`.
   */
  readonly generate: (request: CreateGenerationRequest, options?: GenerateOptions) => Promise<Result>
  /** Jobs, one step at a time. */
  readonly generations: Generations
  /** Images in the shape of common client libraries. */
  readonly images: Images
  /** Images that jobs start from. */
  readonly uploads: Uploads
  /** The models on sale. */
  readonly models: Models
  /** What the account has, and what it used. */
  readonly account: AccountReports
  /**
   * Downloads from an address that the service gave: `output.url`, `preview_url`, `url` of an image. The key goes along
   * only where the address is below `baseUrl`. Rejects with `TypeError` when it is no address.
   */
  readonly download: (url: string | URL, options?: DownloadOptions) => Promise<Response>

  /** Throws `TypeError` when an option cannot be used. Nothing is sent. */
  constructor(options: Options) {
    const parts: Parts = makeAll(options, Ambient.make(options.fetch))
    this.generate = parts.generate
    this.generations = parts.generations
    this.images = parts.images
    this.uploads = parts.uploads
    this.models = parts.models
    this.account = parts.account
    this.download = parts.download
  }
}
