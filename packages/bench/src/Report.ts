/** The report: Markdown tables, or JSON. */
import type { ComparedContestant } from "./Comparison.ts"
import { peers } from "./peers/Peers.ts"
import type { Limit } from "./probes/Probe.ts"
import * as ReportTables from "./ReportTables.ts"
import { spreadOf } from "./Statistics.ts"

/** The result of a run. */
export interface Report {
  readonly machine: string
  /** Average number of other programs that ran or waited for a core during the minute before the run. */
  readonly load: number
  /** The commit of the working tree, and whether it was changed. */
  readonly commit: string
  /** The day of the run. */
  readonly day: string
  readonly postgres: string
  /** `name version` of Kinora's runtime and of each peer. */
  readonly versions: ReadonlyArray<string>
  readonly rounds: { readonly seconds: number; readonly pairs: number; readonly warmUps: number }
  readonly limits: ReadonlyArray<Limit>
  readonly outcomes: ReadonlyArray<ReportTables.ReportedOutcome>
}

/** Encodes the report as JSON, with every round and unrounded figures. */
export const toJson = (report: Report): string => JSON.stringify(report, undefined, 2)

/** Returns the conditions of a run, a line each. */
export const conditionsOf = ({ commit, day, load, machine, postgres, rounds, versions }: Report) => [
  `Machine: ${machine}, load before the run ${load.toFixed(1)}`,
  `Database: ${postgres}`,
  `Versions: commit ${commit} of ${day}, ${versions.join(", ")}`,
  `Rounds: ${rounds.pairs} of about ${rounds.seconds} s for each, in turns, ${warmUpsOf(rounds)}`
]

/** Formats the report as Markdown. */
export const toText = (report: Report): string =>
  [
    conditionsOf(report).join("\n"),
    ReportTables.markdown(ReportTables.limits(report.limits)),
    ...ReportTables.groups(report.outcomes).flatMap(({ lines, table, title }) => [
      `## ${title}`,
      ReportTables.markdown(table),
      lines.map((line) => `- ${line}`).join("\n")
    ]),
    ...legend(report)
  ].join("\n\n")

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
    `Rounds: ${rounds.pairs} of about ${rounds.seconds} s for each commit, in turns, each ${warmUpsOf(rounds)}`,
    "",
    ReportTables.markdown({
      head: ["benchmark", "who", `${commit.slice(0, 12)} (range)`, "working tree (range)", "better by (range)"],
      rows: contestants.map(({ after, before, benchmark, name, ratio }) => [
        `**${benchmark}**`,
        name,
        ReportTables.ranged(spreadOf(before), figure),
        ReportTables.ranged(spreadOf(after), figure),
        ReportTables.ranged(ratio, ReportTables.times)
      ])
    })
  ].join("\n")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const warmUpsOf = ({ warmUps }: Report["rounds"]): string =>
  warmUps === 0 ? "without a warm-up" : `after ${warmUps === 1 ? "one that does" : `${warmUps} that do`} not count`

/** Describes the peers that have short names. */
const legend = ({ outcomes }: Report): ReadonlyArray<string> => {
  const names = new Set(outcomes.flatMap(({ results }) => results.map(({ name }) => name)))
  const lines = peers.filter(({ name }) => names.has(name)).map(({ description, name }) => `- ${name}: ${description}`)
  return lines.length === 0 ? [] : [lines.join("\n")]
}

/** Formats a number of operations per second, or milliseconds. */
const figure = (value: number): string => value < 100 ? value.toFixed(2) : ReportTables.countOf(value)
