/** The build of the console: `dist/web` with compressed variants of every text file. `reference/vite.config.ts` builds the API reference. */
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defaultClientConditions, defineConfig } from "vite"
import { fontLicenses } from "./fontLicenses.ts"
import { precompress } from "./precompress.ts"

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
