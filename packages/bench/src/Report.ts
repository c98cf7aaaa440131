/** The report: a Markdown table, or JSON. */
import type { Outcomes, Round } from "./Benchmark.ts"
import type { ComparedContestant } from "./Comparison.ts"
import type { Baseline } from "./Machine.ts"
import type { Outcome, Result } from "./Rounds.ts"
import { type Spread, spreadOf } from "./Statistics.ts"

/** The result of a run. */
export interface Report {
  readonly machine: string
  readonly postgres: string
  /** `name version` of Kinora's runtime and of each peer. */
  readonly versions: ReadonlyArray<string>
  readonly rounds: { readonly seconds: number; readonly pairs: number }
  readonly baseline: ReadonlyArray<Baseline>
  readonly outcomes: ReadonlyArray<Outcome>
}

/** Encodes the report as JSON, with every round and unrounded figures. */
export const toJson = (report: Report): string => JSON.stringify(report, undefined, 2)

/** Formats the report as Markdown. */
export const toText = ({ baseline, machine, outcomes, postgres, rounds, versions }: Report): string =>
  [
    `Machine: ${machine}`,
    `Database: ${postgres}`,
    `Versions: ${versions.join(", ")}`,
    `Rounds: ${rounds.pairs} of about ${rounds.seconds} s for each, in turns, after one that does not count`,
    "",
    table(
      ["baseline (`pg`, prepared)", "per second"],
      baseline.map(({ perSecond, what }) => [what, count(perSecond)])
    ),
    "",
    table(...withoutEmptyColumns(
      [
        "benchmark",
        "who",
        "per second (range)",
        "p50 ms",
        "p99 ms",
        "max ms",
        "p99 ms of each",
        "failed",
        "over cap",
        "CPU s",
        "peak MiB",
        "attacker received",
        better
      ],
      outcomes.flatMap(({ benchmark, results }) =>
        results.map((result, index) => [index === 0 ? `**${benchmark.name}**` : "", ...cellsOf(result)])
      )
    )),
    "",
    ...outcomes.map(({ benchmark }) => `- **${benchmark.name}**: ${benchmark.title}`)
  ].join("\n")

/** Two versions of the benchmarks. */
export interface ComparisonReport {
  /** The hash of the earlier one. The later one is the working tree. */
  readonly commit: string
  readonly machine: string
  readonly rounds: Report["rounds"]
  readonly contestants: ReadonlyArray<ComparedContestant>
}

/** Formats a comparison as Markdown. */
export const toComparison = ({ commit, contestants, machine, rounds }: ComparisonReport): string =>
  [
    `Machine: ${machine}`,
    `Rounds: ${rounds.pairs} of about ${rounds.seconds} s for each commit, in turns`,
    "",
    table(
      ["benchmark", "who", `${commit.slice(0, 12)} (range)`, "working tree (range)", "better by (range)"],
      contestants.map(({ after, before, benchmark, name, ratio }) => [
        `**${benchmark}**`,
        name,
        ranged(spreadOf(before), figure),
        ranged(spreadOf(after), figure),
        ranged(ratio, times)
      ])
    )
  ].join("\n")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const better = "ours is better by (range)"

const cellsOf = ({ name, ratio, rounds }: Result): ReadonlyArray<string> => {
  const figure = (key: Figure): Spread | undefined => {
    const values = rounds.map((round) => round[key]).filter((value) => value !== undefined)
    return values.length === 0 ? undefined : spreadOf(values)
  }
  const cell = (value: number | undefined, format: (value: number) => string): string =>
    value === undefined ? "" : format(value)
  return [
    name,
    ranged(figure("perSecond"), count),
    cell(figure("p50")?.median, millis),
    cell(figure("p99")?.median, millis),
    cell(figure("max")?.max, millis),
    operationsOf(rounds),
    outcomesOf(rounds.map(({ failed }) => failed)),
    cell(figure("overCap")?.median, (part) => `${(part * 100).toFixed(1)} %`),
    cell(figure("cpuSeconds")?.median, (seconds) => seconds.toFixed(2)),
    cell(figure("peakMebibytes")?.max, count),
    outcomesOf(rounds.map(({ attacker }) => attacker)),
    ranged(ratio, times)
  ]
}

/** A figure that is one number. */
type Figure = Exclude<keyof Round, "operations" | "failed" | "attacker">

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

const ranged = (spread: Spread | undefined, format: (value: number) => string): string =>
  spread === undefined ? "" : `${format(spread.median)} (${format(spread.min)} to ${format(spread.max)})`

const times = (ratio: number): string => `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}x`

/** Formats a number of operations per second, or milliseconds. */
const figure = (value: number): string => value < 100 ? value.toFixed(2) : count(value)

const count = (value: number): string =>
  value > 0 && value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")

const millis = (value: number): string => value < 10 ? value.toFixed(2) : value.toFixed(1)

/** Only benchmarks of some kinds have figures in the middle columns. */
const withoutEmptyColumns = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): readonly [head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>] => {
  const isUsed = (_: string, column: number) => rows.some((row) => row[column] !== "")
  return [head.filter(isUsed), rows.map((row) => row.filter(isUsed))]
}

/** A padded Markdown table. The first columns are text, the others numbers. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}
