/** What a client and its calls can be told. */

/** The standard `fetch`, as far as the client uses it. Wrap it to log, to trace or to go through a proxy. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** How a client is made. */
export interface Options {
  /** The origin of the service, with or without a path and `/v1`: `https://kinora.example`. */
  readonly baseUrl: string
  /** An API key of the account. `null`: none is sent, for pages behind a proxy that adds one. */
  readonly apiKey: string | null
  /** Default: that of the platform. */
  readonly fetch?: Fetch | undefined
  /** How often a request is sent at most, its retries included. Default 5. */
  readonly attemptsMax?: number | undefined
  /** How long one attempt, or a stream between two pieces, may be silent. Default 90 000, above the longest answer. */
  readonly attemptTimeoutMillis?: number | undefined
  /** How long a call may take in all, retries and their waits included. Default 120 000. */
  readonly timeoutMillis?: number | undefined
  /** The same of calls that wait for a job: `generate`, `wait`, `events`, `images.generate`. Default 1 800 000. */
  readonly waitTimeoutMillis?: number | undefined
}

/** What every call can be told. */
export interface CallOptions {
  /** Ends the call; its promise rejects with the signal's reason. A job that was created goes on. */
  readonly signal?: AbortSignal | undefined
  /** Instead of the client's `timeoutMillis`, or `waitTimeoutMillis` where the call waits for a job. */
  readonly timeoutMillis?: number | undefined
}

/** What a call that creates a job can be told. */
export interface CreateOptions extends CallOptions {
  /**
   * Names the call, 1 to 255 printable ASCII characters: the same key with the same request is answered with the first
   * job and charged once. Default: a new key for each call, which its retries keep.
   */
  readonly idempotencyKey?: string | undefined
}

/** Which bytes of a file, counted from 0: from `start` to `end`, both included, or the `last` ones. */
export type ByteRange = { readonly start: number; readonly end?: number | undefined } | { readonly last: number }

/** What a download can be told. `timeoutMillis` is the time until it begins. */
export interface DownloadOptions extends CallOptions {
  /** Only these bytes; answered with 206. Default: all. */
  readonly range?: ByteRange | undefined
  /** Only the headers, by HEAD. */
  readonly headersOnly?: boolean | undefined
  /** The `ETag` of a copy that you have; 304 when it is still good. */
  readonly ifNoneMatch?: string | undefined
}
