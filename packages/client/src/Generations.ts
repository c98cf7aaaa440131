/** Calls about jobs: create, follow, cancel and list them, and download their results. */
import type { CallOptions, CreateOptions, DownloadOptions } from "./Options.ts"
import type { CreateGenerationRequest, Generation, GenerationList, Kind, Plan, Status } from "./Wire.ts"

/** Filters of a list. A missing filter selects all jobs. */
export interface ListQuery {
  readonly status?: Status | undefined
  readonly kind?: Kind | undefined
  readonly plan?: Plan | undefined
  /** Id of the model. */
  readonly model?: string | undefined
  /** Id of the API key that created them, `key_…`. */
  readonly key?: string | undefined
  /** Only jobs created at this time or later: RFC 3339 in UTC, as from `Date.toISOString`. */
  readonly from?: string | undefined
  /** Only jobs created before this time. */
  readonly to?: string | undefined
  /** A part of the prompt, at most 100 characters. */
  readonly q?: string | undefined
  /** Jobs per page, 1 to 100. Default 20 for `page`, 100 for `list`. */
  readonly limit?: number | undefined
}

/** Calls of `Kinora.generations`. Ids of other accounts' jobs are rejected with `not_found`. */
export interface Generations {
  /** Creates a job and returns it at once. If the service rejects the request, nothing was charged. */
  readonly create: (request: CreateGenerationRequest, options?: CreateOptions) => Promise<Generation>
  /** Returns the job; with `waitSeconds`, up to 60, once it is final or that time has passed. */
  readonly get: (id: string, options?: GetOptions) => Promise<Generation>
  /** Returns the job once it is final, within `timeoutMillis`. A failed job is returned, not rejected. */
  readonly wait: (id: string, options?: CallOptions) => Promise<Generation>
  /** Cancels a job that has not started, and refunds it. Idempotent. Rejects with `not_cancellable` if it has started. */
  readonly cancel: (id: string, options?: CallOptions) => Promise<Generation>
  /** Iterates over all jobs, newest first, and requests the pages as needed. `timeoutMillis` applies to each page. */
  readonly list: (query?: ListQuery, options?: CallOptions) => AsyncIterable<Generation>
  /**
   * Returns one page of jobs, newest first. Its `next_cursor` is the `cursor` of the next page. With `model`, `key` or `q`, a
   * page can be empty although another one follows.
   */
  readonly page: (query?: ListQuery & { readonly cursor?: string }, options?: CallOptions) => Promise<GenerationList>
  /** Iterates over the current state of the job and each later one, up to the final state. Reconnects by itself. */
  readonly events: (id: string, options?: CallOptions) => AsyncIterable<Generation>
  /** Downloads the result. If the connection breaks, the body continues on a new one. Rejects with `result_not_ready`. */
  readonly content: (id: string, options?: DownloadOptions) => Promise<Response>
  /** Downloads the preview of an image, at most 1024 pixels on the long side. */
  readonly preview: (id: string, options?: DownloadOptions) => Promise<Response>
  /** Downloads the thumbnail, at most 256 pixels on the long side. */
  readonly thumb: (id: string, options?: DownloadOptions) => Promise<Response>
  /** Downloads the first frame of a video. */
  readonly poster: (id: string, options?: DownloadOptions) => Promise<Response>
}

/** Options of `Generations.get`. */
export interface GetOptions extends CallOptions {
  readonly waitSeconds?: number | undefined
}

/** Whether the job has reached a final status. */
export const isFinal = ({ status }: Generation): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"
