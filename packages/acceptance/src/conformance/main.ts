/** Runs the conformance suite on all hosts and writes `docs/conformance.md`. Ends with the code of the run. */
import { Schema } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { render, Report, rowsOf } from "./Document.ts"

const repository = join(import.meta.dirname, "../../../..")
const document = join(repository, "docs/conformance.md")
const files = ["memory.test.ts", "pglite.integration.test.ts", "postgres.integration.test.ts"]

const run = (command: string, args: ReadonlyArray<string>): Promise<number> => {
  const { promise, reject, resolve } = Promise.withResolvers<number>()
  spawn(join(repository, "node_modules/.bin", command), args, { cwd: repository, stdio: "inherit" })
    .once("error", reject)
    .once("close", (code) => resolve(code ?? 1))
  return promise
}

const directory = await mkdtemp(join(tmpdir(), "kinora-conformance-"))
const report = join(directory, "report.json")
const code = await run("vitest", [
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile=${report}`,
  ...files.map((file) => `packages/acceptance/test/conformance/${file}`)
])
const rows = rowsOf(Schema.decodeUnknownSync(Schema.fromJsonString(Report))(await readFile(report, "utf8")))
await writeFile(document, render(rows))
await run("dprint", ["fmt", document])
await rm(directory, { recursive: true })
process.exitCode = code
