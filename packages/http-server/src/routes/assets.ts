/** Built files of pages, and responses with them. */
import { Cache, Duration, Effect, Exit, FileSystem, Path } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerResponse } from "effect/http"
import { accepts } from "../middleware/acceptEncoding.ts"
import type { RequestState } from "../middleware/currentRequest.ts"
import { errorResponse } from "../wire/errorResponse.ts"

/** One encoding of a file. */
interface Variant {
  readonly bytes: Uint8Array
  readonly etag: string
}

/** Reads one encoding of a file, once. */
type ReadVariant = Effect.Effect<Variant, unknown>

/** A file of a page. */
interface Asset {
  readonly contentType: string
  readonly plain: ReadVariant
  /** Encoded when the page was built. */
  readonly br: ReadVariant | undefined
  readonly gzip: ReadVariant | undefined
}

/** The files by their paths, such as `index.html` and `assets/app.js`. */
export type Assets = ReadonlyMap<string, Asset>

/**
 * Lists all files of a directory. The encoding that a client accepts is read when it is first requested, and stays in
 * memory. `undefined` if there is no `index.html`, because the page is not built.
 */
export const open = Effect.fnUntraced(
  function*(directory: string) {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const { digestHex } = yield* Digest.Digest
    if (!(yield* files.exists(paths.join(directory, indexPath)))) return undefined
    const names = new Set(yield* files.readDirectory(directory, { recursive: true }))

    const variants = yield* Cache.makeWith(
      Effect.fnUntraced(function*(name: string) {
        const bytes = yield* files.readFile(paths.join(directory, name))
        const digest = (yield* digestHex(Digest.sha256, bytes)).slice(0, 32)
        return { bytes, etag: `"${digest}${suffixes[extensionOf(name)] ?? ""}"` }
      }),
      { capacity: names.size, timeToLive: (exit) => Exit.isSuccess(exit) ? Duration.infinity : Duration.zero }
    )
    const encodedOf = (name: string) => names.has(name) ? Cache.get(variants, name) : undefined

    return new Map([...names].flatMap((name): ReadonlyArray<readonly [string, Asset]> => {
      const contentType = contentTypes[extensionOf(name)]
      if (contentType === undefined) return []
      const plain = Cache.get(variants, name)
      return [[
        name.replaceAll("\\", "/"),
        { contentType, plain, br: encodedOf(`${name}.br`), gzip: encodedOf(`${name}.gz`) }
      ]]
    }))
  },
  Effect.catch((error) => Effect.as(Effect.logWarning("The files of a page cannot be listed", error), undefined))
)

/** Lists all files of a directory like `open`, and reads them, so that a later build does not mix with this one. */
export const read = Effect.fnUntraced(
  function*(directory: string) {
    const assets = yield* open(directory)
    for (const { br, gzip, plain } of assets?.values() ?? []) {
      for (const variant of [plain, br, gzip]) if (variant !== undefined) yield* variant
    }
    return assets
  },
  Effect.catch((error) => Effect.as(Effect.logWarning("The files of a page cannot be read", error), undefined))
)

/** The path of the page. */
export const indexPath = "index.html"

/** Returns the extension of the last segment of a path, or the empty string. */
export const extensionOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ""

/**
 * Responds with a file, in an encoding that the client accepts. Browsers keep files of `assets/`, which have a digest of
 * their content in their names, and revalidate all others. `undefined` if there is no such file.
 */
export const respond = (
  assets: Assets,
  path: string,
  { request: { headers } }: RequestState,
  security: Readonly<Record<string, string>>
): Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined => {
  const asset = assets.get(path)
  if (asset === undefined) return undefined
  const { encoding, variant } = select(asset, headers["accept-encoding"])
  return Effect.matchEffect(variant, {
    onFailure: (error) => Effect.as(Effect.logError("A file of a page cannot be read", error), unreadable),
    onSuccess: ({ bytes, etag }) => {
      const validity = {
        etag,
        "cache-control": path.startsWith(immutablePath) ? "public, max-age=31536000, immutable" : "no-cache",
        "vary": "Accept-Encoding"
      }
      return Effect.succeed(
        isCurrent(headers["if-none-match"], etag)
          ? HttpServerResponse.empty({ status: 304, headers: validity })
          : HttpServerResponse.uint8Array(bytes, {
            contentType: asset.contentType,
            headers: { ...security, ...validity, ...(encoding === undefined ? {} : { "content-encoding": encoding }) }
          })
      )
    }
  })
}

/** Responds that a page is not built. `text` names what works without it. */
export const notBuilt = (page: string, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `${page} is not built. Run \`npm run build -w @kinora/console\` and restart the server. ${text}\n`,
    { status: 503, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } }
  )

/** The headers of a page with this policy. */
export const securityHeaders = (policy: ReadonlyArray<string>): Readonly<Record<string, string>> => ({
  "content-security-policy": policy.join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Files below this path have a digest of their content in their names. */
const immutablePath = "assets/"

/** Of validators, by the extensions of encoded files. */
const suffixes: Readonly<Record<string, string>> = { br: "-br", gz: "-gz" }

/** Files with other extensions are not served. */
const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff2: "font/woff2"
}

const select = ({ br, gzip, plain }: Asset, acceptEncoding: string | undefined) => {
  if (br !== undefined && accepts(acceptEncoding, "br")) return { encoding: "br", variant: br }
  if (gzip !== undefined && accepts(acceptEncoding, "gzip")) return { encoding: "gzip", variant: gzip }
  return { encoding: undefined, variant: plain }
}

const isCurrent = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`)

const unreadable = errorResponse("unavailable")
