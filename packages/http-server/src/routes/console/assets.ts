/** The files of the console in memory. They are read when the server starts. */
import { Effect, FileSystem, Path } from "effect"
import { Digest } from "effect/crypto"

/** One encoding of a file. */
interface Variant {
  readonly bytes: Uint8Array
  readonly etag: string
}

/** A file of the console. */
export interface Asset {
  readonly contentType: string
  readonly plain: Variant
  /** Encoded when the console was built, if that made it smaller. */
  readonly br: Variant | undefined
  readonly gzip: Variant | undefined
}

/** The files by their paths, such as `index.html` and `assets/app.js`. */
export type Assets = ReadonlyMap<string, Asset>

/** Reads all files of a directory. `undefined` if it has no `index.html`, because the console is not built. */
export const read = Effect.fnUntraced(
  function*(directory: string) {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const { digestHex } = yield* Digest.Digest
    if (!(yield* files.exists(paths.join(directory, indexPath)))) return undefined
    const names = new Set(yield* files.readDirectory(directory, { recursive: true }))

    const variantOf = Effect.fnUntraced(function*(name: string, suffix: string) {
      const bytes = yield* files.readFile(paths.join(directory, name))
      const etag = (yield* digestHex(Digest.sha256, bytes)).slice(0, 32)
      return { bytes, etag: `"${etag}${suffix}"` }
    })
    const encodedOf = (name: string, suffix: string) => names.has(name) ? variantOf(name, suffix) : Effect.undefined

    const assets = new Map<string, Asset>()
    for (const name of names) {
      const contentType = contentTypes[extensionOf(name)]
      if (contentType === undefined) continue
      assets.set(name.replaceAll("\\", "/"), {
        contentType,
        plain: yield* variantOf(name, ""),
        br: yield* encodedOf(`${name}.br`, "-br"),
        gzip: yield* encodedOf(`${name}.gz`, "-gz")
      })
    }
    return assets
  },
  Effect.catch((error) => Effect.as(Effect.logWarning("The console cannot be read", error), undefined))
)

/** The path of the page. */
export const indexPath = "index.html"

/** Returns the extension of the last segment of a path, or the empty string. */
export const extensionOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ""

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
