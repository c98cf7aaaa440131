/** docs/explanation/comparison.md: the lines of tested examples, and the outcomes of the scenarios that a test runs on both. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { expectTables, read } from "./Page.ts"
import * as SoftwareLines from "./SoftwareLines.ts"

/** Files of a solution, below its directory, and how they use the software. */
interface Solution extends SoftwareLines.Software {
  readonly directory: string
  readonly files: ReadonlyArray<string>
}

const modules = /^@kinora\/(?!example-)/
const comparison = "examples/comparison"

/** The solutions of each task, each of which has a test that runs it. `peer` is a reason if there is none. */
const tasks: ReadonlyArray<{ readonly task: string; readonly kinora: Solution; readonly peer: Solution | string }> = [
  {
    task: "Charge in the transaction of an own row, Express",
    kinora: { directory: "examples/billing", files: ["src/app.ts", "src/database.ts", "src/main.ts"], modules },
    peer: { directory: comparison, files: ["src/pgledger.ts"], texts: /pgledger/ }
  },
  {
    task: "Rate limit, with Kinora also idempotent requests, Fastify and Drizzle",
    kinora: { directory: "examples/limits", files: ["src/app.ts", "src/database.ts", "src/main.ts"], modules },
    peer: { directory: comparison, files: ["src/rateLimiterFlexible.ts"], modules: /^rate-limiter-flexible$/ }
  },
  {
    task: "API keys in the transaction of an own row, Hono, with Kinora also Prisma",
    kinora: { directory: "examples/stations", files: ["src/app.ts", "src/database.ts", "src/main.ts"], modules },
    peer: { directory: comparison, files: ["src/betterAuth.ts"], modules: /^@?better-auth\b/, texts: /\bapikey\b/ }
  },
  {
    task: "Typed jobs with retries and a cron schedule",
    kinora: { directory: comparison, files: ["src/kinoraScheduler.ts"], modules },
    peer: {
      directory: comparison,
      files: ["src/graphileWorker.ts"],
      modules: /^graphile-worker$/,
      texts: /\bgraphile_worker\./
    }
  },
  {
    task: "Typed jobs with retries, with Effect",
    kinora: { directory: "examples/mails", files: ["src/Mails.ts"], modules },
    peer: "none: graphile-worker has no interface for Effect"
  },
  {
    task: "Webhooks in the transaction of an own row, with a receiver",
    kinora: { directory: comparison, files: ["src/kinoraWebhooks.ts"], modules },
    peer: { directory: comparison, files: ["src/svix.ts"], modules: /^svix$/ }
  },
  {
    task: "A client, and its tests with Vitest against a whole service",
    kinora: { directory: "examples/covers", files: ["src/Covers.ts", "test/Covers.test.ts"], modules },
    peer: "none"
  }
]

const linesMax = 30

const root = new URL("../../../../", import.meta.url)

/** Returns links to the files of a solution, and the number of lines that touch the software. */
const countLines = async ({ directory, files, ...software }: Solution) => {
  const sources = await Promise.all(files.map((file) => readFile(new URL(`${directory}/${file}`, root), "utf8")))
  const lines = sources.reduce((sum, source) => sum + SoftwareLines.inSource(source, software).size, 0)
  return { links: files.map((file) => `[${file}](../../${directory}/${file})`).join(", "), lines }
}

/** A scenario, and its outcome with each solution, by the name of the solution. The first is that of Kinora. */
interface Outcome {
  readonly task: keyof typeof sections
  readonly scenario: string
  /** Row of the table in the section of the task that states what the scenario shows. */
  readonly row?: string
  readonly outcomes: Readonly<Record<string, string>>
}

/** The sections of the page, by task. */
const sections = { charges: "Ledgers", limits: "Limits", keys: "API keys", jobs: "Jobs", events: "Webhooks" }

const readOutcomes = async (): Promise<ReadonlyArray<Outcome>> =>
  JSON.parse(await readFile(new URL(`${comparison}/outcomes.json`, root), "utf8"))

it.effect("comparison.md states the lines and outcomes of each solution, and Kinora's lines are at most 30", () =>
  Effect.gen(function*() {
    const lines = yield* Effect.forEach(tasks, ({ kinora, peer, task }) =>
      Effect.promise(async () => {
        const own = await countLines(kinora)
        assert.isAtMost(own.lines, linesMax, kinora.directory)
        const other = typeof peer === "string" ? { links: peer, lines: "" } : await countLines(peer)
        return [task, own.links, `${own.lines}`, other.links, `${other.lines}`]
      }))
    const outcomes = (yield* Effect.promise(readOutcomes)).map(({ outcomes, scenario }) => {
      const [[name, own] = ["", ""], ...others] = Object.entries(outcomes)
      return [scenario, `${name}: ${own}`, others.map(([name, outcome]) => `${name}: ${outcome}`).join("; ")]
    })
    yield* expectTables("explanation/comparison.md", {
      lines: { head: ["task", "Kinora", "lines", "other package", "lines"], rows: lines },
      outcomes: { head: ["scenario", "Kinora", "other package"], rows: outcomes }
    })
  }))

it.effect("comparison.md marks the rows that a scenario runs", () =>
  Effect.gen(function*() {
    const page = yield* read("explanation/comparison.md")
    const marked = page.split(/^## /m).flatMap((section) =>
      Array.from(section.matchAll(/^\| ([^|]+?) ✓ +\|/gm), ([, row]) => `${section.split(/[:\n]/)[0]}: ${row}`)
    )
    const run = (yield* Effect.promise(readOutcomes)).flatMap(({ row, task }) =>
      row === undefined ? [] : [`${sections[task]}: ${row}`]
    )
    assert.deepStrictEqual(marked.toSorted(), run.toSorted())
  }))

const linesIn = (source: string, software: SoftwareLines.Software) =>
  [...SoftwareLines.inSource(source, software)].toSorted((a, b) => a - b).join(" ")

it("counts imports, names and calls of a software, and no bodies of functions in them", () => {
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
  assert.strictEqual(linesIn(source, { modules }), "2 6 9 10 11 12 14 15 16 18 19 21 22 23")
})

it("counts functions and types of a software", () => {
  const source = `import { betterAuth } from "better-auth"

const authOn = (database: Pool) =>
  betterAuth({
    database
  })
type Auth = ReturnType<typeof authOn>
const use = (auth: Auth) => {
  other.verify()
  auth.verify()
}`
  assert.strictEqual(linesIn(source, { modules: /^better-auth$/ }), "1 3 4 5 6 7 8 10")
})

it("counts texts that name a software, and calls that pass one", () => {
  const source = `const transfer = \`
  SELECT pgledger_create_transfer($1, $2, $3)
\`
await tx.query("INSERT INTO print VALUES ($1)", [id])
await tx.query(transfer, [
  account
])
await tx.query(
  "SELECT pgledger_create_account($1)",
  [account]
)`
  assert.strictEqual(linesIn(source, { texts: /pgledger/ }), "1 2 3 5 6 7 8 9 10 11")
})
