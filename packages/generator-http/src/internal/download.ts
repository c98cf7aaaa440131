/**
 * Downloads of results. A result on the upstream's own origin is requested with the
 * credentials. A result elsewhere is requested without them, at an address that the guard
 * accepts. Redirects are followed under the same rules.
 */
import * as AddressGuard from "@kinora/address-guard/AddressGuard"
import * as GuardedHttp from "@kinora/address-guard/GuardedHttp"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, type Scope, Stream } from "effect"
import type { UpstreamOptions } from "../UpstreamOptions.ts"
import { type Disconnected, disconnected, type HttpResponse, send } from "./exchange.ts"
import { type HttpFailure, reasonOfStatus, transient } from "./failures.ts"
import { connectMillis, failWith, headBytesMax, isOk, refuse, type Upstream, userAgent } from "./upstream.ts"

/** A result that is being downloaded. */
export interface Download {
  /** Media type by the server, in lower case and without parameters. */
  readonly mime: string | undefined
  /** The bytes. Can be read once, inside the scope of the download. */
  readonly body: Stream.Stream<Uint8Array, GeneratorError>
}

/**
 * Makes a function that downloads a URL that the upstream returned, or a path below its base URL. It returns when the
 * response head is complete. The body fails with `Transient` if it breaks off or pauses for too long, and with `Permanent`
 * if it is too long.
 */
export const makeDownload = Effect.fnUntraced(function*(upstream: Upstream, options: UpstreamOptions) {
  const guard = yield* AddressGuard.make({ allowPrivate: options.private ?? false })
  const timeout = options.call_timeout ?? Duration.seconds(30)
  const open = makeOpen(upstream, guard)
  const bodyOf = makeBody(options)

  return (target: string): Effect.Effect<Download, GeneratorError, Scope.Scope> =>
    open(target).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => failWith(transient(), { problem: "time limit" }) }),
      Effect.flatMap((response) =>
        Effect.map(bodyOf(response), (body) => ({ mime: mimeOf(response.headers["content-type"]), body }))
      )
    )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Redirects of a download. */
const redirectsMax = 3

/** Opens a download with status 2xx. */
const makeOpen = (upstream: Upstream, guard: AddressGuard.AddressGuard["Service"]) =>
  Effect.fnUntraced(function*(target: string) {
    let url = yield* parse(upstream, target)
    // Once a redirect has left the origin, a later one cannot return to it: the upstream may be in a private network.
    let isOwn = url.origin === upstream.origin
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const response = yield* isOwn ? upstream.open(url) : openElsewhere(guard, url)
      if (isOk(response.status)) return response
      const location = redirectOf(response)
      if (location === undefined) return yield* refuse(url, "GET", response, reasonOf(isOwn))
      const next = URL.parse(location, url.href)
      if (next === null) break
      isOwn = isOwn && next.origin === upstream.origin
      url = next
    }
    return yield* failWith(permanent("unusable"), { problem: "redirects", upstream: upstream.origin })
  })

/** A path below the base URL, or any absolute URL. */
const parse = (upstream: Upstream, target: string) => {
  const url = target.startsWith("/") ? null : URL.parse(target)
  return url === null || url.origin === upstream.origin ? upstream.resolve(target) : Effect.succeed(url)
}

/** Requests a URL without credentials over a connection of its own, to an address that was checked for it. */
const openElsewhere = Effect.fnUntraced(function*(guard: AddressGuard.AddressGuard["Service"], url: URL) {
  const facts = { upstream: url.origin, method: "GET" }
  const target = yield* Effect.catch(
    guard.check(withoutFragment(url)),
    ({ problem }) => failWith(problem === "dns" ? transient() : permanent("unusable"), { ...facts, problem })
  )
  const client = yield* GuardedHttp.connect(target, { headBytesMax, connectTimeout: connectMillis })
  const request = { method: "GET", url: target.url, headers: { "user-agent": userAgent } } as const
  return yield* Effect.catch(
    send(client, request, { isWritten: false }),
    ({ code }) => failWith(transient(), { ...facts, problem: code })
  )
})

/** Fragments are not sent, and the guard rejects them. */
const withoutFragment = (url: URL): string => {
  const copy = new URL(url)
  copy.hash = ""
  return copy.href
}

const redirectOf = ({ headers, status }: HttpResponse): string | undefined =>
  status >= 300 && status < 400 ? headers.location : undefined

/** A storage that rejects a signed URL no longer has the result. */
const reasonOf = (isOwn: boolean) => (failure: HttpFailure) =>
  !isOwn && (failure.status === 401 || failure.status === 403) ? permanent("gone") : reasonOfStatus(failure, "safe")

/** Makes the function that returns the body of a response as a stream with limits. */
const makeBody = (options: UpstreamOptions) => {
  const bytesMax = options.result_bytes_max ?? 1024 ** 3
  const idle = options.idle_timeout ?? Duration.seconds(30)
  const tooLong = failWith(permanent("unusable"), { problem: "result too long" })
  const broken = ({ code }: Disconnected) => failWith(transient(), { problem: code })

  return ({ body, headers }: HttpResponse) => {
    if (Number(headers["content-length"]) > bytesMax) return tooLong
    // The iterator is never asked to return, because that waits for the next part. The scope of the response closes it.
    const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
    const next = Effect.tryPromise({ try: () => parts.next(), catch: disconnected }).pipe(
      Effect.timeoutOrElse({ duration: idle, orElse: () => failWith(transient(), { problem: "idle" }) }),
      Effect.catchTag("Disconnected", broken)
    )
    const read = (total: number) =>
      Effect.flatMap(next, ({ done = false, value }) => {
        if (done || value === undefined) return Effect.undefined
        const sum = total + value.length
        return sum > bytesMax ? tooLong : Effect.succeed([value, sum] as const)
      })
    return Effect.succeed(Stream.unfold(0, read))
  }
}

const mimeOf = (contentType: string | undefined): string | undefined =>
  contentType?.split(";")[0]?.trim().toLowerCase() || undefined
