/**
 * The stored results: `docs/reference/benchmarks.json`, and the tables of them in `docs/reference/benchmarks.md`. A run
 * replaces the earlier results of its benchmarks. What it did not measure stays, with the machine of its own run.
 */
import { Effect } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { attempt } from "./Benchmark.ts"
import { conditionsOf, type Report } from "./Report.ts"
import * as ReportTables from "./ReportTables.ts"

/** The runs, the latest first. Each benchmark is in one of them. */
export interface Results {
  readonly runs: ReadonlyArray<Report>
}

const directory = join(import.meta.dirname, "../../../docs/reference")

/** The file of the results. */
export const file = join(directory, "benchmarks.json")

/** The page with the tables. */
export const page = join(directory, "benchmarks.md")

/** Reads the stored results. */
export const read: Effect.Effect<Results> = Effect.promise(async () => JSON.parse(await readFile(file, "utf8")))

/** Stores a run, and writes its tables into the page. */
export const save = Effect.fnUntraced(function*(report: Report) {
  const results = add(yield* read, report)
  yield* attempt("The results could not be written", async () => {
    await writeFile(file, encode(results))
    await writeFile(page, withTables(await readFile(page, "utf8"), results))
  })
})

/** Adds a run with six digits of each figure, and removes earlier results of its benchmarks. */
export const add = ({ runs }: Results, report: Report): Results => {
  const names = new Set(report.outcomes.map(({ benchmark }) => benchmark.name))
  const others = runs.map((run) => ({
    ...run,
    outcomes: run.outcomes.filter(({ benchmark }) => !names.has(benchmark.name))
  }))
  return { runs: [rounded(report), ...others.filter(({ outcomes }) => outcomes.length > 0)] }
}

/** Encodes results. */
export const encode = (results: Results): string => `${JSON.stringify(results, undefined, 2)}\n`

/** Returns the page with the tables of these results. */
export const withTables = (page: string, { runs }: Results): string => {
  const [before, rest] = page.split(start)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`The page has no ${start} before ${end}`)
  return [before, start, `\n${runs.map(sectionOf).join("\n")}\n`, end, after].join("")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rounded = (report: Report): Report =>
  JSON.parse(
    JSON.stringify(report),
    (_, value) => typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  )

const start = "<!-- results -->\n"
const end = "<!-- end of results -->\n"

/** Returns the tables of a run. A later run has fewer benchmarks below its own conditions. */
const sectionOf = (report: Report, index: number): string => {
  const run = `${report.day}, commit ${shortened(report.commit)}`
  return [
    index === 0 ? "" : `### Run of ${run}\n\n`,
    `${conditionsOf(report).map((line) => `- ${line}\n`).join("")}\n`,
    `${ReportTables.markdown(ReportTables.limits(report.limits))}\n`,
    ...ReportTables.groups(report.outcomes).map(({ lines, table, title }) =>
      `\n${index === 0 ? "###" : "####"} ${title}${index === 0 ? "" : ` (${run})`}\n\n${
        ReportTables.markdown(table)
      }\n\n${lines.map((line) => `- ${line}\n`).join("")}`
    )
  ].join("")
}

/** Two runs of a day are of different commits. The hash has 12 digits, and a suffix if the working tree was changed. */
const shortened = (commit: string): string => commit.replace(/^([0-9a-f]{7})[0-9a-f]+/, "$1")
