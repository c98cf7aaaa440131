/** Results on the origin of the base URL, which are read with the credentials of the upstream. */
import type { Output } from "@kinora/generator/Generator"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import { Duration, Effect, type Scope, Stream } from "effect"
import type { Readable } from "node:stream"
import type { UpstreamOptions } from "../UpstreamOptions.ts"
import { disconnected } from "./exchange.ts"
import { permanent, reasonOfStatus, transient } from "./failures.ts"
import { failWith, isOk, refuse, type Upstream } from "./upstream.ts"

/**
 * Makes a function that opens a result. `target` is that of a call. The body is a stream
 * with a maximum length and a maximum time between two parts. The connection closes with
 * the scope.
 */
export const makeOpenOwnResult = (upstream: Upstream, options: UpstreamOptions) => {
  const { call_timeout = Duration.seconds(30), result_bytes_max = 1024 ** 3 } = options

  return Effect.fnUntraced(function*(target: string): Effect.fn.Return<Output, GeneratorError, Scope.Scope> {
    const url = yield* upstream.resolve(target)
    const late = failWith(transient(), { problem: "time limit", upstream: url.origin, method: "GET" })
    const response = yield* Effect.timeoutOrElse(upstream.open(url), { duration: call_timeout, orElse: () => late })
    if (!isOk(response.status)) {
      return yield* refuse(url, "GET", response, (failure) => reasonOfStatus(failure, "safe"))
    }
    if (Number(response.headers["content-length"]) > result_bytes_max) return yield* tooLong(url)
    return { mime: mediaTypeOf(response.headers["content-type"]), body: bodyOf(url, response.body, options) }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bodyOf = (
  url: URL,
  body: Readable,
  { idle_timeout = Duration.seconds(30), result_bytes_max = 1024 ** 3 }: UpstreamOptions
): Stream.Stream<Uint8Array, GeneratorError> =>
  Stream.fromAsyncIterable(body as AsyncIterable<Buffer>, disconnected).pipe(
    Stream.catch(({ code }) => Stream.fromEffect(failWith(transient(), { problem: code, upstream: url.origin }))),
    Stream.timeoutOrElse({
      duration: idle_timeout,
      orElse: () => Stream.fromEffect(failWith(transient(), { problem: "idle result", upstream: url.origin }))
    }),
    Stream.mapAccumEffect(() => 0, (total, part) => {
      const next = total + part.length
      return next > result_bytes_max ? tooLong(url) : Effect.succeed([next, [part]] as const)
    })
  )

const tooLong = (url: URL) => failWith(permanent("unusable"), { problem: "result too long", upstream: url.origin })

/** Returns a media type without parameters. */
const mediaTypeOf = (header = "application/octet-stream") => (header.split(";")[0] ?? "").trim().toLowerCase()
