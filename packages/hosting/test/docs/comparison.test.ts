/** docs/explanation/comparison.md: the lines of Kinora in tested examples. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import * as KinoraLines from "./KinoraLines.ts"
import { expectTables } from "./Page.ts"

/** The examples, each of which has a test that runs it. Paths of files are below the directory. */
const examples = [
  {
    task: "Charge in the transaction of an own row, Express",
    directory: "examples/billing",
    files: ["src/app.ts", "src/database.ts", "src/main.ts"]
  },
  {
    task: "Rate limit and idempotent requests, Fastify and Drizzle",
    directory: "examples/limits",
    files: ["src/app.ts", "src/database.ts", "src/main.ts"]
  },
  {
    task: "API keys in the transaction of an own row, Hono and Prisma",
    directory: "examples/stations",
    files: ["src/app.ts", "src/database.ts", "src/main.ts"]
  },
  {
    task: "Webhooks in the transaction of an own row, with a receiver",
    directory: "packages/webhooks",
    files: ["example/promise.ts"]
  },
  { task: "Typed jobs with retries", directory: "examples/mails", files: ["src/Mails.ts"] },
  { task: "Jobs with retries, without Effect", directory: "packages/scheduler", files: ["example/retry.ts"] },
  {
    task: "A client, and its tests with Vitest against a whole service",
    directory: "examples/covers",
    files: ["src/Covers.ts", "test/Covers.test.ts"]
  }
]

const linesMax = 30

it.effect("comparison.md states the lines of Kinora in each example, which are at most 30", () =>
  Effect.gen(function*() {
    const rows = yield* Effect.forEach(examples, ({ directory, files, task }) =>
      Effect.promise(async () => {
        const root = new URL(`../../../../${directory}/`, import.meta.url)
        const sources = await Promise.all(files.map((file) => readFile(new URL(file, root), "utf8")))
        const lines = sources.reduce((sum, source) => sum + KinoraLines.inSource(source).size, 0)
        const all = sources.reduce((sum, source) => sum + source.trimEnd().split("\n").length, 0)
        assert.isAtMost(lines, linesMax, directory)
        const links = files.map((file) => `[${file}](../../${directory}/${file})`).join(", ")
        return [task, links, `${lines}`, `${all}`]
      }))
    yield* expectTables("explanation/comparison.md", {
      lines: { head: ["task", "files", "lines of Kinora", "lines of the files"], rows }
    })
  }))

it("counts imports, names and calls of Kinora, and no bodies of functions in them", () => {
  const source = `import { Pool } from "pg"
import { createLedger, type Ledger } from "@kinora/ledger/promise"

interface Services { readonly db: Pool }
interface Own {
  readonly ledger: Ledger
}
const pool = new Pool()
const ledger = await createLedger({
  pool
})
const run = async (books: Ledger) => {
  await pool.query("BEGIN")
  await books.charge({
    account: "ada"
  })
}
const worker = await ledger.work({
  run: () => {
    pool.query("SELECT")
  }
})
worker.close()
pool.end()`
  const lines = [...KinoraLines.inSource(source)].toSorted((a, b) => a - b)
  assert.strictEqual(lines.join(" "), "2 6 9 10 11 12 14 15 16 18 19 21 22 23")
})
