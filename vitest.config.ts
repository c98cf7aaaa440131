import { defineConfig } from "vitest/config"

// Tests read the workspace from source; published packages do not know this condition. `import` is not
// among them: Node gets them for every `require` too, and packages that are both would load as the wrong one.
const conditions = ["@kinora/source", "node"]
const resolution = { resolve: { conditions }, ssr: { resolve: { conditions } } }
const limits = { testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    projects: [
      {
        ...resolution,
        test: {
          ...limits,
          name: "unit",
          include: ["{packages,hosts,examples}/*/test/**/*.test.ts", "tools/test/**/*.test.ts"],
          exclude: ["**/*.integration.test.ts"]
        }
      },
      {
        ...resolution,
        test: {
          ...limits,
          name: "integration",
          include: ["{packages,hosts,examples}/*/test/**/*.integration.test.ts"],
          globalSetup: ["packages/testkit/src/globalSetup.ts"]
        }
      }
    ]
  }
})
