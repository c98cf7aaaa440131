/** Adds Scalar to the build of the API reference: the script that the package `effect` contains, which has no dependencies. */
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import type { Plugin } from "vite"

/** Adds the script to the page before all others, as a file that has a digest of its content in its name. */
export const scalar = async (): Promise<Plugin> => {
  const source = await read()
  const fileName = `assets/scalar-${createHash("sha256").update(source).digest("hex").slice(0, 8)}.js`
  let base = "/"
  return {
    name: "scalar",
    configResolved(config) {
      base = config.base
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [{ tag: "script", attrs: { src: base + fileName, defer: true }, injectTo: "head-prepend" }]
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName, source })
    },
    configureServer({ middlewares }) {
      middlewares.use(base + fileName, (_request, response) => {
        response.setHeader("content-type", "text/javascript; charset=utf-8").end(source)
      })
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The file is not an entry point of the package, whose version is pinned. A build without it fails. */
const read = async (): Promise<string> => {
  const url = new URL("internal/httpApiScalar.js", import.meta.resolve("effect/http-api/HttpApiScalar"))
  const { javascript } = await import(fileURLToPath(url))
  if (typeof javascript !== "string" || !javascript.includes("createApiReference")) {
    throw new Error(`There is no Scalar in ${url}`)
  }
  return javascript
}
