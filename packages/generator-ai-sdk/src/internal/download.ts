/**
 * Downloads of videos from URLs that a provider returned, without credentials, at addresses that
 * the guard accepts. Redirects are followed under the same rules.
 */
import * as AddressGuard from "@kinora/address-guard/AddressGuard"
import * as GuardedHttp from "@kinora/address-guard/GuardedHttp"
import type * as Generator from "@kinora/generator/Generator"
import { GeneratorError, type Reason, Transient } from "@kinora/generator/GeneratorError"
import { type Duration, Effect, type Scope, Stream } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import type { Readable } from "node:stream"
import { unusable } from "./failures.ts"

/** Limits of downloads. */
export interface DownloadOptions {
  /** Whether URLs may lead to private networks. */
  readonly isPrivate: boolean
  /** Time limit until the head of the response. */
  readonly timeout: Duration.Duration
  /** Time limit between two parts of a video. */
  readonly idleTimeout: Duration.Duration
  readonly bytesMax: number
}

/**
 * Makes a function that downloads a URL. The body fails with `Transient` if it breaks off or
 * pauses for too long, and with `Permanent` if it is too long.
 */
export const makeDownload = Effect.fnUntraced(function*(options: DownloadOptions) {
  const guard = yield* AddressGuard.make({ allowPrivate: options.isPrivate })

  const request = Effect.fnUntraced(function*(url: URL) {
    const target = yield* Effect.catch(
      guard.check(withoutFragment(url)),
      ({ problem }) => failWith(problem === "dns" ? interrupted : unusable)
    )
    const client = yield* GuardedHttp.connect(target)
    return yield* Effect.tryPromise({
      try: async (signal): Promise<HttpResponse> => {
        const { body, headers, statusCode: status } = await client.request({
          method: "GET",
          path: target.url.pathname + target.url.search,
          signal
        })
        // A body that is closed before its end emits an error, which would end the process without a listener.
        body.on("error", () => {})
        return { status, headers, body }
      },
      catch: () => new GeneratorError({ reason: interrupted })
    })
  })

  const open = Effect.fnUntraced(function*(start: string) {
    let url = URL.parse(start)
    for (let redirects = 0; url !== null && redirects <= redirectsMax; redirects++) {
      const response = yield* request(url)
      const { headers: { location }, status } = response
      if (status >= 200 && status < 300) return response
      if (status < 300 || status >= 400 || location === undefined) return yield* failWith(reasonOf(status))
      url = URL.parse(location, url.href)
    }
    return yield* failWith(unusable)
  })

  return (url: string): Effect.Effect<Generator.Output["body"], GeneratorError, Scope.Scope> =>
    open(url).pipe(
      Effect.timeoutOrElse({ duration: options.timeout, orElse: () => failWith(interrupted) }),
      Effect.flatMap((response) => bodyOf(response, options))
    )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A response whose head is complete. */
interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/** Redirects of a download. */
const redirectsMax = 3

const interrupted = new Transient({})

const failWith = (reason: Reason) => Effect.fail(new GeneratorError({ reason }))

/** A storage that rejects a URL no longer has the video. */
const reasonOf = (status: number): Reason => status >= 500 || status === 408 || status === 429 ? interrupted : unusable

/** Fragments are not sent, and the guard rejects them. */
const withoutFragment = (url: URL): string => {
  const copy = new URL(url)
  copy.hash = ""
  return copy.href
}

const bodyOf = ({ body, headers }: HttpResponse, { bytesMax, idleTimeout }: DownloadOptions) => {
  if (Number(headers["content-length"]) > bytesMax) return failWith(unusable)
  // The iterator is never asked to return, because that waits for the next part. The scope of the connection closes it.
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  const next = Effect.tryPromise({
    try: () => parts.next(),
    catch: () => new GeneratorError({ reason: interrupted })
  }).pipe(Effect.timeoutOrElse({ duration: idleTimeout, orElse: () => failWith(interrupted) }))
  return Effect.succeed(Stream.unfold(0, (total) =>
    Effect.flatMap(next, ({ done = false, value }) => {
      if (done || value === undefined) return Effect.undefined
      const sum = total + value.length
      return sum > bytesMax ? failWith(unusable) : Effect.succeed([value, sum] as const)
    })))
}
