/** The build of the API reference: `dist/reference` with compressed variants of every text file. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"
import { precompress } from "../precompress.ts"
import { scalar } from "./scalar.ts"

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/docs/",
  // Quality 9 takes 1 second for Scalar, and 11 takes 6 to save a tenth.
  plugins: [scalar(), precompress({ quality: 9 })],
  build: {
    outDir: "../dist/reference",
    emptyOutDir: true,
    // The content security policy allows neither inline scripts nor `data:` URLs of scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false
  },
  server: { proxy: { "^/(v1|admin/v1|console/v1|docs/documents.json|openapi.json)": "http://127.0.0.1:4747" } }
})
