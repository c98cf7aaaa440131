/** Tables of a report, for the terminal and for the documentation. */
import type { Benchmark, Outcomes, Round } from "./Benchmark.ts"
import type { JudgedGoal } from "./Goals.ts"
import type { Limit } from "./probes/Probe.ts"
import type { Outcome, Result } from "./Rounds.ts"
import { type Spread, spreadOf } from "./Statistics.ts"

/** The results of a benchmark, and its group. */
export interface ReportedOutcome extends Outcome {
  readonly group: string
}

/** A table. Every row has as many cells as the head. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** Returns the limits of the machine, one column for each number of callers. */
export const limits = (measured: ReadonlyArray<Limit>): Table => {
  const callers = [...new Set(measured.map(({ callers }) => callers))]
  const names = [...new Set(measured.map(({ what }) => what))]
  return {
    head: ["limit", ...callers.map((count) => `per second, ${count} caller${count === 1 ? "" : "s"} (p50 ms)`)],
    rows: names.map((name) => [
      name,
      ...callers.map((count) => {
        const limit = measured.find(({ callers, what }) => what === name && callers === count)
        return limit === undefined ? "" : `${countOf(limit.perSecond)} (${millis(limit.p50)})`
      })
    ])
  }
}

/** The table of a group of benchmarks. */
export interface GroupTable {
  readonly title: string
  readonly table: Table
  /** A line for each benchmark. */
  readonly lines: ReadonlyArray<string>
}

/** Returns a table for each group of benchmarks, with the columns that it has figures for. */
export const groups = (outcomes: ReadonlyArray<ReportedOutcome>): ReadonlyArray<GroupTable> =>
  Array.from(Map.groupBy(outcomes, ({ group }) => group), ([group, outcomes]) => ({
    title: titles[group] ?? group,
    table: withoutEmptyColumns({
      head: ["benchmark", "who", ...columns.map(({ head }) => head)],
      rows: outcomes.flatMap(({ benchmark, results }) =>
        results.map((result, index) => [
          index === 0 ? `**${benchmark.name}**` : "",
          result.name,
          ...columns.map(({ cell }) => cell(result))
        ])
      )
    }),
    lines: outcomes.map(({ benchmark, goals = [] }) =>
      [`**${benchmark.name}**: ${benchmark.title}`, ...goals.map((goal) => goalText(goal, benchmark.compares))].join(
        "; "
      )
    )
  }))

/** Formats a table as dprint formats it. */
export const markdown = ({ head, rows }: Table): string => {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const [first = [], ...others] = cells
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n")
}

/** Formats a spread as its median and range. */
export const ranged = (spread: Spread | undefined, format: (value: number) => string): string =>
  spread === undefined ? "" : `${format(spread.median)} (${format(spread.min)} to ${format(spread.max)})`

/** Formats a ratio. */
export const times = (ratio: number): string => `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}x`

/** Formats a number of operations. */
export const countOf = (value: number): string =>
  value > 0 && value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Titles of groups, by their name on the command line. */
const titles: Readonly<Record<string, string>> = {
  http: "HTTP API",
  waiting: "Waiting calls",
  processes: "Processes",
  downloads: "Downloads",
  jobs: "Jobs",
  charges: "Charges",
  limits: "Rate limits",
  deliveries: "Webhooks",
  sizes: "Number of stored jobs",
  boots: "Starts of the server",
  "event-loop": "Event loop",
  media: "Media",
  neighbours: "Neighbours"
}

interface Column {
  readonly head: string
  readonly cell: (result: Result) => string
}

/** A figure that is one number. */
type Figure = Exclude<keyof Round, "operations" | "failed" | "attacker">

const spread = ({ rounds }: Result, key: Figure): Spread | undefined => {
  const values = rounds.map((round) => round[key]).filter((value) => value !== undefined)
  return values.length === 0 ? undefined : spreadOf(values)
}

/** A column of medians, or of maxima. */
const figure = (
  head: string,
  key: Figure,
  format: (value: number) => string,
  of: keyof Spread = "median"
): Column => ({
  head,
  cell: (result) => {
    const found = spread(result, key)
    return found === undefined ? "" : format(found[of])
  }
})

const counted = (
  head: string,
  key: keyof NonNullable<Result["counts"]>,
  format: (value: number) => string
): Column => ({
  head,
  cell: ({ counts }) => counts === undefined ? "" : format(counts[key])
})

const seconds = (value: number): string => value.toFixed(2)

const millis = (value: number): string => value < 10 ? value.toFixed(2) : value.toFixed(1)

const columns: ReadonlyArray<Column> = [
  { head: "ready after s (range)", cell: (result) => ranged(spread(result, "readySeconds"), seconds) },
  { head: "per second (range)", cell: (result) => ranged(spread(result, "perSecond"), countOf) },
  figure("p50 ms", "p50", millis),
  figure("p99 ms", "p99", millis),
  figure("max ms", "max", millis, "max"),
  { head: "p99 ms of each", cell: ({ rounds }) => operationsOf(rounds) },
  figure("server µs", "serverMicros", countOf),
  figure("database µs", "databaseMicros", countOf),
  counted("statements", "statements", (value) => value.toFixed(1)),
  counted("round trips", "roundTrips", (value) => value.toFixed(1)),
  counted("WAL bytes", "walBytes", countOf),
  { head: "failed", cell: ({ rounds }) => outcomesOf(rounds.map(({ failed }) => failed)) },
  figure("over cap", "overCap", (part) => `${(part * 100).toFixed(1)} %`),
  figure("CPU s", "cpuSeconds", seconds),
  figure("MiB after 2 s", "residentMebibytes", countOf),
  figure("peak MiB", "peakMebibytes", countOf, "max"),
  { head: "attacker received", cell: ({ rounds }) => outcomesOf(rounds.map(({ attacker }) => attacker)) },
  { head: "Kinora is better by (range)", cell: ({ ratio }) => ranged(ratio, times) }
]

/** The median of each operation. */
const operationsOf = (rounds: ReadonlyArray<Round>): string =>
  Object.keys(rounds[0]?.operations ?? {}).map((operation) => {
    const values = rounds.map(({ operations }) => operations?.[operation] ?? 0)
    return `${operation} ${millis(spreadOf(values).median)}`
  }).join(", ")

/** The sum of each outcome. */
const outcomesOf = (rounds: ReadonlyArray<Outcomes | undefined>): string => {
  const sums = new Map<string, number>()
  for (const [outcome, times] of rounds.flatMap((outcomes) => Object.entries(outcomes ?? {}))) {
    sums.set(outcome, (sums.get(outcome) ?? 0) + times)
  }
  return [...sums].map(([outcome, times]) => `${outcome}: ${times}`).toSorted().join(", ")
}

const goalText = ({ found, goal, isReached, limit }: JudgedGoal, compares: Benchmark["compares"]): string => {
  const state = isReached ? "reached" : "not reached"
  switch (goal) {
    case "ratio":
      return `${compares} at most ${times(limit)}: ${state}, ${times(found)}`
    case "failed":
      return `none fails: ${state}${isReached ? "" : `, ${found} failed`}`
    case "peakMebibytes":
      return `at most ${countOf(limit)} MiB: ${state}, ${countOf(found)} MiB`
  }
}

const withoutEmptyColumns = ({ head, rows }: Table): Table => {
  const isUsed = (_: string, column: number) => rows.some((row) => row[column] !== "")
  return { head: head.filter(isUsed), rows: rows.map((row) => row.filter(isUsed)) }
}
