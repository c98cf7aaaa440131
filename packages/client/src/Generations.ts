/** Jobs: creating, following, cancelling and listing them, and downloading their results. */
import type { CallOptions, CreateOptions, DownloadOptions } from "./Options.ts"
import type { CreateGenerationRequest, Generation, GenerationList, Kind, Plan, Status } from "./Wire.ts"

/** Which jobs are listed. What is left out does not matter. */
export interface ListQuery {
  readonly status?: Status | undefined
  readonly kind?: Kind | undefined
  readonly plan?: Plan | undefined
  /** How many jobs a page has, 1 to 100. Default 20 for a page, 100 for all. */
  readonly limit?: number | undefined
}

/** Everything about jobs. Ids of jobs that are not the account's are answered with `not_found`. */
export interface Generations {
  /** Creates a job and answers at once. Rejects with what the service refuses; then nothing was charged. */
  readonly create: (request: CreateGenerationRequest, options?: CreateOptions) => Promise<Generation>
  /** The job as it is now; with `waitSeconds`, up to 60, as it is once it is final or that time is over. */
  readonly get: (id: string, options?: GetOptions) => Promise<Generation>
  /** The job once it is final, however long that takes within `timeoutMillis`. A job that failed is a good answer. */
  readonly wait: (id: string, options?: CallOptions) => Promise<Generation>
  /** Cancels a job that has not started, and pays it back. Again answers the same. Else `not_cancellable`. */
  readonly cancel: (id: string, options?: CallOptions) => Promise<Generation>
  /** All jobs, newest first, page by page as they are asked for. `timeoutMillis` counts for each page. */
  readonly list: (query?: ListQuery, options?: CallOptions) => AsyncIterable<Generation>
  /** One page of jobs, newest first; `next_cursor` of one is the `cursor` of the next. */
  readonly page: (query?: ListQuery & { readonly cursor?: string }, options?: CallOptions) => Promise<GenerationList>
  /** The job as it is now and each time it changes, up to its final state. Reconnects by itself. */
  readonly events: (id: string, options?: CallOptions) => AsyncIterable<Generation>
  /** The result. Its body goes on by itself where a connection broke off. `result_not_ready` before it is there. */
  readonly content: (id: string, options?: DownloadOptions) => Promise<Response>
  /** The preview of an image, at most 1024 pixels on the long side. */
  readonly preview: (id: string, options?: DownloadOptions) => Promise<Response>
  /** The thumbnail, at most 256 pixels on the long side. */
  readonly thumb: (id: string, options?: DownloadOptions) => Promise<Response>
  /** The first frame of a video. */
  readonly poster: (id: string, options?: DownloadOptions) => Promise<Response>
}

/** See `Generations.get`. */
export interface GetOptions extends CallOptions {
  readonly waitSeconds?: number | undefined
}

/** Whether the job can change no more. */
export const isFinal = ({ status }: Generation): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"
