/** The build of the API reference: `dist/reference` with compressed variants of every text file. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"
import { fontLicenses } from "../fontLicenses.ts"
import { precompress } from "../precompress.ts"

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/docs/",
  // Quality 9 takes 1 second for Scalar, and 11 takes 6 to save a tenth.
  plugins: [fontLicenses(), precompress({ quality: 9 })],
  build: {
    outDir: "../dist/reference",
    license: { fileName: "licenses.md" },
    emptyOutDir: true,
    // The content security policy allows neither inline scripts nor `data:` URLs of scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Scalar is one chunk of 3 MB.
    chunkSizeWarningLimit: 4000
  },
  server: { proxy: { "^/(v1|admin/v1|console/v1|docs/documents.json|openapi.json)": "http://127.0.0.1:4747" } }
})
