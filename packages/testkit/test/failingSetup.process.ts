/** The configuration of a run whose global setup fails. The setup is its test file too, which the run never loads. */
import { defineConfig } from "vitest/config"
import { ProgressReporter } from "../src/ProgressReporter.ts"

const setup = "failingGlobalSetup.process.ts"

export default defineConfig({
  test: { root: import.meta.dirname, include: [setup], globalSetup: [setup], reporters: [new ProgressReporter()] }
})
