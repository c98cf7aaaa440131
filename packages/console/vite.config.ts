/** The build of the console: `dist/web` with compressed variants of every text file. */
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { defaultClientConditions, defineConfig, type Plugin } from "vite"

/** Writes the `.br` and `.gz` variants of a file. */
const compress = async (path: string): Promise<void> => {
  const bytes = await readFile(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((compressed) => writeFile(`${path}.br`, compressed)),
    promisify(gzip)(bytes, { level: 9 }).then((compressed) => writeFile(`${path}.gz`, compressed))
  ])
}

/** Compresses every text file, so that the server never does. */
const precompress = (): Plugin => ({
  name: "precompress",
  apply: "build",
  async writeBundle({ dir = "" }) {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    await Promise.all(
      entries
        .filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
        .map((entry) => compress(join(entry.parentPath, entry.name)))
    )
  }
})

/** Writes the licenses of the fonts, which `build.license` does not know. */
const fontLicenses = (): Plugin => ({
  name: "font-licenses",
  apply: "build",
  async generateBundle() {
    const texts = await Promise.all(
      ["geist", "geist-mono"].map((font) =>
        readFile(new URL(import.meta.resolve(`@fontsource-variable/${font}/LICENSE`)), "utf8")
      )
    )
    this.emitFile({ type: "asset", fileName: "font-licenses.txt", source: texts.join("\n\n") })
  }
})

export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwindcss(), fontLicenses(), precompress()],
  // Workspace packages are read from source, as by the tests.
  resolve: { conditions: ["@kinora/source", ...defaultClientConditions] },
  build: {
    outDir: "dist/web",
    license: { fileName: "licenses.md" },
    emptyOutDir: true,
    // The content security policy allows neither inline scripts nor `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Compression takes most of a build, which is expected.
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          // A separate chunk stays cached when only the application changes.
          groups: [{ name: "vendor", test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/ }]
        }
      }
    }
  },
  server: { proxy: { "^/(v1|admin/v1|console/v1|docs|openapi.json)": "http://127.0.0.1:4747" } }
})
