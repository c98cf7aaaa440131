/** Options of the client and of its calls. */

/** The part of the standard `fetch` that the client uses. Wrap it for logs, traces or a proxy. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Options of a client. */
export interface Options {
  /** Origin of the service, with or without a path and `/v1`: `https://kinora.example`. */
  readonly baseUrl: string
  /** An API key of the account. `null` sends none, for pages behind a proxy that adds one. */
  readonly apiKey: string | null
  /** Default: `fetch` of the platform. */
  readonly fetch?: Fetch | undefined
  /** Maximum number of attempts per request. Default 5. */
  readonly attemptsMax?: number | undefined
  /** Maximum silence of one attempt, or of a stream between two chunks. Default 90,000, above the longest response time. */
  readonly attemptTimeoutMillis?: number | undefined
  /** Maximum duration of a call, including retries and their delays. Default 120,000. */
  readonly timeoutMillis?: number | undefined
  /** The same for calls that wait for a job: `generate`, `wait`, `events`, `images.generate`. Default 1,800,000. */
  readonly waitTimeoutMillis?: number | undefined
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call; its promise rejects with the signal's reason. A job that was created continues. */
  readonly signal?: AbortSignal | undefined
  /** Replaces the client's `timeoutMillis`, or `waitTimeoutMillis` if the call waits for a job. */
  readonly timeoutMillis?: number | undefined
}

/** Options of calls that create a job. */
export interface CreateOptions extends CallOptions {
  /**
   * Identifies the request, 1 to 255 printable ASCII characters: the same key with the same request returns the first job and
   * is charged once. Default: a new key per call, which its retries share.
   */
  readonly idempotencyKey?: string | undefined
}

/** Bytes of a file, counted from 0: from `start` to `end`, both inclusive, or the `last` ones. */
export type ByteRange = { readonly start: number; readonly end?: number | undefined } | { readonly last: number }

/** Options of a download. `timeoutMillis` limits the time until it starts. */
export interface DownloadOptions extends CallOptions {
  /** Requests only these bytes; the response is a 206. Default: all. */
  readonly range?: ByteRange | undefined
  /** Requests only the headers, with HEAD. */
  readonly headersOnly?: boolean | undefined
  /** `ETag` of your copy. The response is a 304 if the file has not changed. */
  readonly ifNoneMatch?: string | undefined
}
