/** The build of the console: `dist/web` with compressed variants of every text file. */
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { defaultClientConditions, defineConfig, type Plugin } from "vite"

/** Writes `.br` and `.gz` variants of text files, so that the server never compresses. */
const precompress = (): Plugin => ({
  name: "precompress",
  apply: "build",
  writeBundle({ dir = "" }) {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue
      const path = join(entry.parentPath, entry.name)
      const bytes = readFileSync(path)
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
    }
  }
})

export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwindcss(), precompress()],
  // Workspace packages are read from source, as by the tests.
  resolve: { conditions: ["@kinora/source", ...defaultClientConditions] },
  build: {
    outDir: "dist/web",
    emptyOutDir: true,
    // The content security policy allows neither inline scripts nor `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
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
