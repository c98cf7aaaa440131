/**
 * POST requests with JSON. Each has a connection of its own, to an address that the guard
 * accepts. Redirects are not followed.
 */
import * as AddressGuard from "@kinora/address-guard/AddressGuard"
import * as GuardedHttp from "@kinora/address-guard/GuardedHttp"
import { Duration, Effect, type Schema } from "effect"
import type { Client } from "undici"
import { type ModerationError, unavailable } from "../ModerationError.ts"

/** Options for `makePost`. */
export interface PostOptions {
  readonly url: string
  readonly private?: boolean | undefined
  readonly timeout?: Duration.Duration | undefined
}

/** Makes the function that posts to the URL. */
export const makePost = Effect.fnUntraced(function*(options: PostOptions) {
  const { timeout = Duration.seconds(10) } = options
  const { port, protocol } = new URL(options.url)
  const guard = yield* AddressGuard.make({
    allowPrivate: options.private ?? false,
    ports: [Number(port) || (protocol === "https:" ? 443 : 80)],
    lookupTimeout: timeout
  })

  const post: Post = (body, headers) =>
    Effect.scoped(Effect.gen(function*() {
      const target = yield* guard.check(options.url)
      // The time limit is that of the whole request.
      const client = yield* GuardedHttp.connect(target, { connectTimeout: 0 })
      const bytes = yield* exchange(client, target.url, body, { ...fixedHeaders, ...headers })
      return yield* Effect.try({
        try: (): unknown => JSON.parse(bytes.toString()),
        catch: () => unavailable("Unreadable response")
      })
    })).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(unavailable("Time limit")) }),
      Effect.catchTag("AddressRefused", ({ message }) => Effect.fail(unavailable(message)))
    )
  return post
})

/** Encodes JSON as a body. */
export const encode = (json: Schema.Json): Buffer<ArrayBuffer> => Buffer.from(JSON.stringify(json))

/** Encodes bytes as base64. */
export const base64 = ({ buffer, byteLength, byteOffset }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sends a body with these headers, and returns the JSON of a response with status 2xx. */
type Post = (
  body: Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>>
) => Effect.Effect<unknown, ModerationError>

/** Bytes of a response. */
const answerBytesMax = 64 * 1024

const fixedHeaders = { accept: "application/json", "content-type": "application/json", "user-agent": "kinora" }

const exchange = (
  client: Client,
  url: URL,
  body: Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>>
): Effect.Effect<Buffer, ModerationError> =>
  Effect.gen(function*() {
    const response = yield* Effect.tryPromise({
      try: (signal) => client.request({ path: url.pathname + url.search, method: "POST", headers, body, signal }),
      catch: disconnected
    })
    // A body that is closed before its end emits an error, which would end the process without a listener.
    response.body.on("error", () => {})
    if (response.statusCode < 200 || response.statusCode > 299) {
      return yield* Effect.fail(unavailable(`Status ${response.statusCode}`))
    }
    return yield* Effect.filterOrFail(
      Effect.tryPromise({ try: () => GuardedHttp.readWhole(response.body, answerBytesMax), catch: disconnected }),
      (bytes) => bytes !== undefined,
      () => unavailable("Response too long")
    )
  })

/** The code of Node or undici, such as `ECONNREFUSED`. The message could contain an address. */
const disconnected = (cause: unknown): ModerationError =>
  unavailable(cause instanceof Error && "code" in cause ? String(cause.code) : "Connection failed")
