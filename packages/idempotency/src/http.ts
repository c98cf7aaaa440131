/**
 * Idempotent HTTP requests without a framework. `express`, `fastify` and `hono` adapt it.
 *
 * A request with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07) runs once, and its repetitions get its
 * response.
 */
import { Duration, type Schema } from "effect"
import { contentOf } from "./internal/http/content.ts"
import { type Refusal, type Reply, replyTo } from "./internal/http/refusals.ts"
import { type Idempotency, InvalidKeyError, type RunningRequest, StorageFailedError } from "./promise.ts"

export type { Refusal, Reply } from "./internal/http/refusals.ts"

/** A value, or a function of the request that returns it. */
export type PerRequest<Request, A> = A | ((request: Request) => A | PromiseLike<A>)

/** Options of idempotent requests. */
export interface IdempotencyOptions<Request> {
  /** Stores the responses. The result of `createIdempotency`. */
  readonly idempotency: Pick<Idempotency, "begin">
  /**
   * Namespace of the keys, such as the account: who knows a key of a scope can read the response. 1 to 128 characters.
   */
  readonly scope: PerRequest<Request, string>
  /** Methods whose requests can have a key. Default `POST` and `PATCH`. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** Whether requests of these methods must have a key. Default false: a request without one runs as usual. */
  readonly required?: PerRequest<Request, boolean> | undefined
  /** Returns whether a request runs as usual, whatever its key. Default: none does. */
  readonly skip?: ((request: Request) => boolean | PromiseLike<boolean>) | undefined
  /**
   * Returns the content of a request, in place of its body: another request with the key has another one. The method and
   * the path are always parts of the content.
   */
  readonly fingerprint?: ((request: Request) => Schema.Json | PromiseLike<Schema.Json>) | undefined
  /** How long a response is replayed. Default 24 hours. */
  readonly window?: PerRequest<Request, Duration.Input> | undefined
  /** The maximum time to wait for a request that is running, before 409. Default 5 seconds. */
  readonly wait?: Duration.Input | undefined
  /** The maximum size of a stored response in bytes. Default 256 KiB. Repetitions of a larger one get 410. */
  readonly sizeMax?: number | undefined
  /**
   * Returns whether a response with this status is replayed. Otherwise the next repetition runs. Default: those below 500,
   * without 408, 425 and 429, which ask the client to send the request again.
   */
  readonly isStored?: ((status: number) => boolean) | undefined
  /**
   * Decides about a request if the database failed before it. `refuse` responds with 503. `allow` runs it as one without a
   * key, which may run twice. Default `refuse`.
   */
  readonly onError?: OnError | ((error: unknown, request: Request) => OnError) | undefined
  /** Called if a response could not be stored. It is sent, and a repetition runs when the lease has expired. Its errors are ignored. */
  readonly onLost?: ((error: unknown, request: Request) => void) | undefined
  /** Milliseconds after which the database counts as failed, without the time of `wait`. Default 10,000. */
  readonly timeout?: number | undefined
  /** Replaces parts of the response to a refused request. */
  readonly refused?:
    | ((refusal: Refusal, request: Request) => Partial<Reply> | PromiseLike<Partial<Reply>>)
    | undefined
}

/** Decision about a request if the database failed. */
export type OnError = "refuse" | "allow"

/** A request, as a framework presents it. */
export interface Incoming {
  readonly method: string
  /** The path and the query. */
  readonly url: string
  /** The header `Idempotency-Key`. */
  readonly key: string | undefined
  /** Returns the body: a JSON value, text, bytes, or `undefined` without one. */
  readonly readBody: () => unknown
}

/** A response that was sent. */
export interface Sent {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** `undefined` if it is larger than `sizeMax`, or was not sent completely. */
  readonly body: Uint8Array | undefined
}

/**
 * Decision about a request.
 *
 * - `Pass`: run it as usual.
 * - `Reply`: send this response.
 * - `Run`: run it. Call `end` with its response before the end of the response is sent. It never rejects.
 */
export type Decision =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Reply"; readonly reply: Reply }
  | { readonly _tag: "Run"; readonly sizeMax: number; readonly end: (sent: Sent) => Promise<void> }

/** The body of a request is larger than an adapter reads. */
export class BodyTooLarge extends Error {}

/**
 * Returns the request that runs, for handlers whose work must not happen twice: `complete` with `tx` stores the response in
 * the transaction of the work. Returns `undefined` for a request without a key.
 */
export const runningRequest = (native: object): RunningRequest | undefined => running.get(native)

/** Returns the function that decides about a request. It rejects with the error of a function of the options. */
export const idempotent = <Request extends object>(
  options: IdempotencyOptions<Request>,
  incomingOf: (request: Request) => Incoming
): (request: Request) => Promise<Decision> => {
  const { methods = ["POST", "PATCH"], sizeMax = 256 * 1024 } = options
  return async (request) => {
    // Another middleware has begun it.
    if (running.has(request)) return { _tag: "Pass" }
    const incoming = incomingOf(request)
    if (!methods.includes(incoming.method) || await options.skip?.(request)) return { _tag: "Pass" }
    const refuse = async (refusal: Refusal): Promise<Decision> => {
      const reply = replyTo(refusal)
      const replaced = await options.refused?.(refusal, request)
      return {
        _tag: "Reply",
        reply: { ...reply, ...replaced, headers: [...reply.headers, ...replaced?.headers ?? []] }
      }
    }
    if (incoming.key === undefined) {
      return await valueOf(options.required ?? false, request) ? refuse({ reason: "missing" }) : { _tag: "Pass" }
    }
    // Called before the key is claimed, which would stay claimed if the function throws.
    const window = await valueOf(options.window ?? "24 hours", request)
    try {
      const begun = await begin(options, request, incoming, incoming.key)
      switch (begun._tag) {
        case "InProgress":
          return refuse({ reason: "in_progress" })
        case "Reused":
          return refuse({ reason: "reused" })
        case "Replay": {
          const { body, headers, status } = begun.response
          if (body === undefined) return refuse({ reason: "unavailable" })
          return { _tag: "Reply", reply: { status, headers: [...headers, ["idempotent-replayed", "true"]], body } }
        }
        case "First": {
          running.set(request, withWindow(begun.request, window))
          return { _tag: "Run", sizeMax, end: (sent) => end(options, request, begun.request, window, sent) }
        }
      }
    } catch (error) {
      if (error instanceof InvalidKeyError) return refuse({ reason: "invalid" })
      if (error instanceof BodyTooLarge) return refuse({ reason: "too_large" })
      if (!isStorageFailure(error)) throw error
      const { onError = "refuse" } = options
      if ((typeof onError === "function" ? onError(error, request) : onError) === "allow") return { _tag: "Pass" }
      return refuse({ reason: "storage", error })
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Requests that run, by the request of the framework. */
const running = new WeakMap<object, RunningRequest>()

const withWindow = (request: RunningRequest, window: Duration.Input): RunningRequest => ({
  ...request,
  complete: (response, options) => request.complete(response, { window, ...options })
})

const valueOf = <Request, A extends boolean | Duration.Input>(
  value: PerRequest<Request, A>,
  request: Request
): A | PromiseLike<A> => typeof value === "function" ? value(request) : value

const begin = async <Request>(
  { fingerprint, idempotency, scope, timeout = 10_000, wait = "5 seconds" }: IdempotencyOptions<Request>,
  request: Request,
  { method, readBody, url }: Incoming,
  key: string
) => {
  const namespace = await (typeof scope === "function" ? scope(request) : scope)
  if (namespace.length < 1 || namespace.length > 128) throw new TypeError("A scope has 1 to 128 characters")
  const content = fingerprint === undefined ? await contentOf(await readBody()) : await fingerprint(request)
  const signal = AbortSignal.timeout(Duration.toMillis(Duration.fromInputUnsafe(wait)) + timeout)
  return idempotency.begin({ scope: namespace, key, body: [method, url, content], wait, signal })
}

const isStored = (status: number): boolean => status < 500 && ![408, 425, 429].includes(status)

const isStorageFailure = (error: unknown): boolean =>
  error instanceof StorageFailedError || (error instanceof DOMException && error.name === "TimeoutError")

const end = async <Request>(
  options: IdempotencyOptions<Request>,
  request: Request,
  running: RunningRequest,
  window: Duration.Input,
  { body, headers, status }: Sent
): Promise<void> => {
  const call = { window, signal: AbortSignal.timeout(options.timeout ?? 10_000) }
  try {
    if (!(options.isStored ?? isStored)(status)) await running.release(call)
    else if (body === undefined) await running.completeWithoutBody(status, call)
    else await running.complete({ status, headers, body }, call)
  } catch (error) {
    report(options, request, error)
  }
}

/** Reports an error. The response is sent although the function of the program throws. */
const report = <Request>({ onLost }: IdempotencyOptions<Request>, request: Request, error: unknown): void => {
  try {
    onLost?.(error, request)
  } catch {
    // Nobody is left to report it to.
  }
}
