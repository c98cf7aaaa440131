/**
 * Calls to one upstream. Credentials are sent to the origin of the base URL only, over
 * connections of their own. Every call has a time limit and every response a maximum length.
 */
import { GeneratorError, type Reason } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Clock, Duration, Effect, Redacted, Result, Schema, type Scope } from "effect"
import { Pool } from "undici"
import type { UpstreamOptions } from "../UpstreamOptions.ts"
import { encodeBody, type RequestBody } from "./body.ts"
import { type HttpRequest, type HttpResponse, type Progress, readWhole, send } from "./exchange.ts"
import {
  codesOf,
  type HttpFailure,
  reasonOfStatus,
  type Repeat,
  retryAfterOf,
  transient,
  unanswered
} from "./failures.ts"

/** An upstream: where it is, and how to call it. */
export interface Upstream {
  /** Origin of the base URL. */
  readonly origin: string
  /** Calls the upstream and decodes the JSON of its response. */
  readonly call: <A>(call: Call, response: Schema.ConstraintDecoder<A>) => Effect.Effect<A, GeneratorError>
  /** Calls the upstream and ignores the body of its response. */
  readonly tell: (call: Call) => Effect.Effect<void, GeneratorError>
  /**
   * Resolves a path below the base URL, or an absolute URL that the upstream returned. Fails
   * with `Permanent` if the URL is on another origin than the base URL.
   */
  readonly resolve: (target: string) => Effect.Effect<URL, GeneratorError>
  /** Sends a request to the origin of the base URL, with credentials. Returns when the response head is complete. */
  readonly open: (url: URL) => Effect.Effect<HttpResponse, GeneratorError, Scope.Scope>
}

/** A call. */
export interface Call {
  readonly method: HttpRequest["method"]
  /**
   * A path with a leading slash, which is appended to the base URL, or an absolute URL on the
   * origin of the base URL. Ids in a path must be an `UpstreamId` and encoded by `encodeURIComponent`.
   */
  readonly target: string
  readonly body?: RequestBody | undefined
  /** Names are lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: `unsafe` for `POST`, otherwise `safe`. With `unsafe`, the call can fail with `UnknownOutcome`. */
  readonly repeat?: Repeat | undefined
  /** Time limit. Default: that of the upstream. */
  readonly timeout?: Duration.Duration | undefined
  /** Returns the reason of a response with a status other than 2xx, or `undefined` for the usual one. */
  readonly reasonOf?: ((failure: HttpFailure) => Reason | undefined) | undefined
}

/** Where an upstream is, and what identifies this service there. */
export interface Place {
  /** See `UpstreamOptions.BaseUrl`. */
  readonly baseUrl: string
  /** Headers of every request to the upstream. Names are lower case. */
  readonly credentials?: Readonly<Record<string, Redacted.Redacted>> | undefined
}

/** An id that an upstream chose: up to 1,024 visible ASCII characters, and not `.` or `..`, which a path resolves. */
export const UpstreamId = Schema.String.check(Schema.isPattern(/^(?!\.{1,2}$)[\x21-\x7e]{1,1024}$/))

/** The header `user-agent` of every request. */
export const userAgent = "kinora"
/** Time limit of connecting, in milliseconds. */
export const connectMillis = 10_000
/** Bytes of a response head. */
export const headBytesMax = 16 * 1024

/** Creates the calls to an upstream. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(place: Place, options: UpstreamOptions) {
  const base = new URL(place.baseUrl)
  const bytesMax = options.response_bytes_max ?? 1024 * 1024
  const timeout = options.call_timeout ?? Duration.seconds(30)
  const pool = yield* acquirePool(base.origin, options)
  const resolve = makeResolve(base)
  const headers = () => ({ "user-agent": userAgent, ...revealed(place.credentials) })

  const exchange = Effect.fnUntraced(function*(call: Call, repeat: Repeat, progress: Progress) {
    const url = yield* resolve(call.target)
    const body = encodeBody(call.body)
    const request = { method: call.method, url, body: body.body }
    const response = yield* send(pool, {
      ...request,
      headers: { accept: "application/json", ...headers(), ...body.headers, ...call.headers }
    }, progress)
    if (!isOk(response.status)) {
      return yield* refuse(
        url,
        call.method,
        response,
        (failure) => call.reasonOf?.(failure) ?? reasonOfStatus(failure, repeat)
      )
    }
    return yield* readWhole(response.body, bytesMax)
  }, Effect.scoped)

  const run = <A>(call: Call, read: (body: Buffer | undefined) => Effect.Effect<A, unknown>) =>
    Effect.suspend(() => {
      const repeat = call.repeat ?? (call.method === "POST" ? "unsafe" : "safe")
      const progress: Progress = { isWritten: false }
      const fail = (problem: string) =>
        failWith(progress.isWritten ? unanswered(repeat) : transient(), {
          problem,
          upstream: base.origin,
          method: call.method
        })
      return exchange(call, repeat, progress).pipe(
        Effect.flatMap((body) => Effect.catch(read(body), () => fail("unreadable response"))),
        Effect.timeoutOrElse({ duration: call.timeout ?? timeout, orElse: () => fail("time limit") }),
        Effect.catchTag("Disconnected", ({ code }) => fail(code))
      )
    })

  const upstream: Upstream = {
    origin: base.origin,
    call: (call, response) => run(call, decodeBody(response)),
    tell: (call) => run(call, () => Effect.void),
    resolve,
    open: Effect.fnUntraced(function*(url) {
      const request = { method: "GET", url, headers: headers() } as const
      return yield* send(pool, request, { isWritten: false }).pipe(
        Effect.catchTag(
          "Disconnected",
          ({ code }) => failWith(transient(), { problem: code, upstream: base.origin, method: "GET" })
        )
      )
    })
  }
  return upstream
})

/** Fails with the reason of a response with a status other than 2xx. Logs the status, and no content. */
export const refuse = Effect.fnUntraced(function*(
  url: URL,
  method: string,
  { body, headers, status }: HttpResponse,
  reasonOf: (failure: HttpFailure) => Reason
) {
  const text = yield* Effect.orElseSucceed(readWhole(body, errorBytesMax), () => undefined)
  const json = Result.getOrElse(parse(text), () => null)
  const retryAfter = retryAfterOf(headers, yield* Clock.currentTimeMillis)
  const codes = codesOf(json)
  return yield* failWith(reasonOf({ status, retryAfter, codes, body: json }), {
    upstream: url.origin,
    method,
    status,
    codes
  })
})

/** Logs the facts, which must not contain content or credentials, and fails. */
export const failWith = (reason: Reason, facts: Readonly<Record<string, unknown>>) =>
  Effect.andThen(
    Effect.logWarning("A call to an upstream failed", { ...facts, reason: reason._tag }),
    Effect.fail(new GeneratorError({ reason }))
  )

/** Returns whether a status is 2xx. */
export const isOk = (status: number): boolean => status >= 200 && status < 300

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes of an error's body that are read. */
const errorBytesMax = 64 * 1024

/** HTTP/1.1, so that a call that fails has a connection of its own. Time limits are those of the calls. */
const acquirePool = (origin: string, { connections_max = 64 }: UpstreamOptions) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      new Pool(origin, {
        connections: connections_max,
        allowH2: false,
        pipelining: 1,
        maxHeaderSize: headBytesMax,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { timeout: connectMillis }
      })
    ),
    (pool) => Effect.promise(() => pool.destroy())
  )

const makeResolve = (base: URL) => {
  const prefix = base.href.replace(/\/$/, "")
  return (target: string): Effect.Effect<URL, GeneratorError> => {
    const url = URL.parse(target.startsWith("/") ? prefix + target : target)
    return url !== null && url.origin === base.origin && url.username === "" && url.password === ""
      ? Effect.succeed(url)
      : failWith(permanent("unusable"), { problem: "URL of another origin", upstream: base.origin })
  }
}

const revealed = (credentials: Place["credentials"] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, Redacted.value(value)]))

const parse = (body: Buffer | undefined): Result.Result<unknown, unknown> =>
  Result.try((): unknown => JSON.parse(String(body)))

const decodeBody = <A>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (body: Buffer | undefined) => Effect.flatMap(Effect.fromResult(parse(body)), decode)
}
