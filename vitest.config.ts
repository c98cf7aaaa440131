import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { LongestFirst } from "./packages/testkit/src/LongestFirst.ts"
import { ProgressReporter } from "./packages/testkit/src/ProgressReporter.ts"

/** Options of both projects. */
const options = {
  // Node itself loads the sources, as it does in production. Vite would transform each module, and its modules are slower.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Tests read the workspace from source; published packages do not have this condition.
  execArgv: ["--conditions=@kinora/source"],
  // Timeouts detect hangs. Files share the cores with others, so a test can take many times as long as alone.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Loading Effect once per worker instead of once per file saves more than half of the processor time of a run.
  isolate: false,
  setupFiles: ["packages/testkit/src/unchangedGlobals.ts"],
  unstubGlobals: true,
  unstubEnvs: true,
  env: {
    // A zone with daylight saving time, whose days are not those of UTC. The databases of the tests have yet another one.
    TZ: "America/Santiago",
    // Programs that tests start compile the same sources again and again.
    NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/node-compile`
  }
}

const every = ["{packages,hosts,examples}/*/test/**/*.test.ts", "tools/test/**/*.test.ts"]

/** Files whose tests start whole services or programs, whatever their names are. */
const services = [
  "packages/{acceptance,pglite}/test/**/*.test.ts",
  "packages/hosting/test/{DataDirectory,api,readme}.test.ts",
  "{examples,hosts}/*/test/**/*.test.ts",
  "tools/test/**/*.test.ts"
]
/**
 * A file is named `*.integration.test.ts` if its tests need a database, start programs, draw, decode or encode images and
 * videos, write large files, bundle sources, keep slow clients connected, or compute for more than a few seconds. All
 * others are unit tests.
 */
const integration = ["**/*.integration.test.ts", ...services]

/**
 * Starts the longest waits first: for a slow job, for a lease that expires, for the patience of a client. Two of them fill
 * two of four workers without using the processor, so the longest computations follow them directly. A long file that
 * starts late delays the end of the run.
 */
class LongestWaitsFirst extends LongestFirst {
  protected readonly longest = [
    "acceptance/test/crash.integration.test.ts",
    "acceptance/test/slowImage.integration.test.ts",
    "acceptance/test/conformance/postgres.integration.test.ts",
    "acceptance/test/conformance/pglite.integration.test.ts",
    "acceptance/test/stories/postgresSeeds1.integration.test.ts",
    "acceptance/test/stories/postgresSeeds2.integration.test.ts",
    "acceptance/test/stories/postgresSeeds3.integration.test.ts",
    "acceptance/test/stories/postgresSeeds4.integration.test.ts",
    "acceptance/test/stories/memory.test.ts",
    "acceptance/test/workerCrash.integration.test.ts",
    "acceptance/test/poisonJob.integration.test.ts",
    "acceptance/test/console/pages.test.ts",
    "acceptance/test/console/pages.integration.test.ts",
    "acceptance/test/console/dialogs.test.ts",
    "bench/test/main.integration.test.ts",
    "acceptance/test/webhookDrill.integration.test.ts",
    "acceptance/test/stop.integration.test.ts",
    "acceptance/test/conformance/memory.test.ts",
    "acceptance/test/webhookCrash.integration.test.ts",
    "acceptance/test/renewals.integration.test.ts",
    "acceptance/test/slowReaders.integration.test.ts",
    "acceptance/test/upstreamKill.integration.test.ts",
    "scheduler/test/Scheduler.integration.test.ts",
    "ledger/test/LedgerStore.integration.test.ts",
    "ledger/test/Ledger.integration.test.ts",
    "acceptance/test/aiSdk.integration.test.ts",
    "acceptance/test/longPoll.integration.test.ts",
    "generator-procedural/test/ProceduralGenerator.integration.test.ts",
    "generator-procedural/test/ImageToImage.integration.test.ts",
    "media/test/Media.integration.test.ts",
    "media/test/Limits.integration.test.ts",
    "storage/test/FileBlobStore.integration.test.ts"
  ]
}

export default defineConfig({
  test: {
    // Drills wait most of the time, so more files than cores run at once.
    maxWorkers: Math.max(4, availableParallelism()),
    reporters: [new ProgressReporter()],
    // Programs under test log the failures that tests cause.
    silent: "passed-only",
    sequence: { sequencer: LongestWaitsFirst },
    experimental: { diagnostics: false },
    projects: [
      { test: { ...options, name: "unit", include: every, exclude: integration } },
      {
        test: {
          ...options,
          name: "integration",
          include: integration,
          exclude: ["**/node_modules/**", "**/dist/**"],
          globalSetup: ["packages/testkit/src/globalSetup.ts", "tools/programs/testSetup.ts"]
        }
      }
    ]
  }
})
