import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

it("prints the error of a global setup, and not that there are no test files", async () => {
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")
  const config = join(import.meta.dirname, "failingSetup.process.ts")
  const { code, output } = await run([vitest, "run", "--config", config])
  assert.strictEqual(code, 1)
  assert.include(output, "No test has run")
  assert.include(output, "The database did not start. Start it.")
  assert.notInclude(output, "No test files found")
})

const run = (args: ReadonlyArray<string>): Promise<{ readonly code: unknown; readonly output: string }> =>
  new Promise((done) => {
    const env = { ...process.env, NO_COLOR: "1" }
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      done({ code: error?.code, output: stdout + stderr })
    })
  })
