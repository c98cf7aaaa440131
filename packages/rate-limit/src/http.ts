/**
 * Limits of HTTP requests, without a framework. `express`, `fastify` and `hono` adapt it; other
 * frameworks call `limiter`.
 *
 * The headers are those of draft-ietf-httpapi-ratelimit-headers-11: `RateLimit-Policy: "api";q=100;w=60` has the limit and the
 * seconds of its window, and `RateLimit: "api";r=99;t=37` what is left, and the seconds until all of the limit is free. Of a
 * refused request these are the seconds until it fits, as in `Retry-After`.
 */
import type { Duration } from "effect"
import { counterKey } from "./internal/http/counterKey.ts"
import { headersOf, legacyHeadersOf } from "./internal/http/headers.ts"
import { limitReply, storageReply } from "./internal/http/replies.ts"
import { placedOf } from "./internal/limits.ts"
import { type Limits, StorageFailedError } from "./promise.ts"
import type { Algorithm } from "./RateLimit.ts"

/** A value, or a function of the request that returns it. */
export type PerRequest<Request, A> = A | ((request: Request) => A | PromiseLike<A>)

/** Options of a limit. */
export interface RateLimitOptions<Request> {
  /** Counts the requests. The result of `createLimits`. */
  readonly limits: Pick<Limits, "hit">
  /**
   * Name of the limit, in headers and keys: 1 to 64 letters, digits, `_`, `-` and `.`. Limits with the same name,
   * window and algorithm share their counters.
   */
  readonly policy: string
  /** Requests that a client may make per window. A whole number. */
  readonly limit: PerRequest<Request, number>
  /** The length of the window (`RateLimit.Hit`). Default 1 minute. */
  readonly window?: Duration.Input | undefined
  /** How the limit counts (`RateLimit.Algorithm`). Default `fixedWindow`. */
  readonly algorithm?: Algorithm | undefined
  /**
   * Identifies the client, such as its account. Default, and for requests for which it returns `undefined`: the address
   * of the client, of IPv6 the /64.
   */
  readonly key?: ((request: Request) => string | undefined | PromiseLike<string | undefined>) | undefined
  /** The part of the limit that a request uses. A whole number, at least 1. Default 1. */
  readonly cost?: PerRequest<Request, number> | undefined
  /** Returns whether a request is neither counted nor limited. Default: none is. */
  readonly skip?: ((request: Request) => boolean | PromiseLike<boolean>) | undefined
  /** Whether to send `X-RateLimit-Limit`, `-Remaining` and `-Reset` (seconds since 1970) too. Default false. */
  readonly legacyHeaders?: boolean | undefined
  /**
   * Decides about a request that cannot be counted, because the database failed or did not respond in time. `refuse`
   * responds with 503, so that no limit is exceeded. With `allow`, it passes without headers. Default `refuse`.
   */
  readonly onError?: OnError | ((error: unknown, request: Request) => OnError) | undefined
  /** Milliseconds after which a request counts as one that cannot be counted. Default 2,000. */
  readonly timeout?: number | undefined
  /** Replaces parts of the response to a refused request. */
  readonly refused?:
    | ((refusal: Refusal, request: Request) => Partial<Reply> | PromiseLike<Partial<Reply>>)
    | undefined
}

/** Decision about a request that cannot be counted. */
export type OnError = "refuse" | "allow"

/** A refused request: the limit has no room, or the database failed. */
export type Refusal =
  | {
    readonly reason: "limit"
    readonly policy: string
    readonly limit: number
    readonly remaining: number
    /** The time at which all of the limit is free, by the clock of the storage. */
    readonly resetsAt: Date
    /** The earliest time at which the request fits, by the clock of the storage. */
    readonly retryAt: Date
    readonly retryAfterSeconds: number
  }
  | { readonly reason: "storage"; readonly policy: string; readonly error: unknown }

/** A response to a refused request. */
export interface Reply {
  readonly status: number
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Decision about a request. */
export interface Decision {
  /** Headers of every response. Those of several limits are lists: append them. */
  readonly headers: Readonly<Record<string, string>>
  /** The response, if the request is refused. */
  readonly reply?: Reply | undefined
}

/**
 * Returns the function that counts a request and decides about it. `addressOf` returns the address of the client,
 * `undefined` if its socket is closed, and `null` if the platform has none: then `key` has to return a key. Throws a
 * `TypeError` for an invalid option. The decision rejects with the error of a function of the options.
 */
export const limiter = <Request>(
  options: RateLimitOptions<Request>,
  addressOf: (request: Request) => string | null | undefined
): (request: Request) => Promise<Decision> => {
  const { algorithm, cost = 1, limit, limits, policy, timeout = 2_000, window } = options
  if (!policyPattern.test(policy)) throw new TypeError(`The policy ${JSON.stringify(policy)} is not a name`)
  if (typeof limit === "number") whole("limit", limit, 0)
  if (typeof cost === "number") whole("cost", cost, 1)
  const { take } = placedOf({ key: "", limit: typeof limit === "number" ? limit : 0, window, algorithm })
  const { length } = take.window

  return async (request) => {
    // The socket of a client that disconnects later has no address.
    const address = addressOf(request)
    if (await options.skip?.(request)) return { headers: {} }
    const hit = {
      key: await counterKey(policy, await options.key?.(request), address),
      limit: whole("limit", await valueOf(limit, request), 0),
      cost: whole("cost", await valueOf(cost, request), 1),
      window: length,
      algorithm
    }
    const signal = AbortSignal.timeout(timeout)
    // Only failures of the hit count as those of the database, not failures of a function of the options.
    const counted = await limits.hit({ ...hit, signal }).catch((error: unknown) => {
      if (!(error instanceof StorageFailedError) && !signal.aborted) throw error
      return { error }
    })
    if ("error" in counted) {
      const { onError = "refuse" } = options
      const action = typeof onError === "function" ? onError(counted.error, request) : onError
      if (action === "allow") return { headers: {} }
      return { headers: {}, reply: await replyOf(options, request, storageReply(policy, counted.error)) }
    }
    const headers = {
      ...headersOf(policy, length, counted),
      ...(options.legacyHeaders === true ? legacyHeadersOf(counted) : {})
    }
    if (counted.accepted) return { headers }
    return { headers, reply: await replyOf(options, request, limitReply(policy, length, counted)) }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const policyPattern = /^[\w.-]{1,64}$/

const valueOf = <Request, A extends number>(value: PerRequest<Request, A>, request: Request) =>
  typeof value === "function" ? value(request) : value

const whole = (name: string, value: number, min: number): number => {
  if (Number.isSafeInteger(value) && value >= min) return value
  throw new TypeError(`The ${name} of requests must be a whole number from ${min}, not ${value}`)
}

const replyOf = async <Request>(
  { refused }: RateLimitOptions<Request>,
  request: Request,
  { refusal, reply }: { readonly refusal: Refusal; readonly reply: Reply }
): Promise<Reply> => {
  const replaced = await refused?.(refusal, request)
  return { ...reply, ...replaced, headers: { ...reply.headers, ...replaced?.headers } }
}
