/** Goals of benchmarks: the figures that reach them, and what the command reports. */
import { assert, it } from "@effect/vitest"
import type { Goals as BenchmarkGoals, Round } from "../src/Benchmark.ts"
import { benchmarks } from "../src/Benchmarks.ts"
import * as Goals from "../src/Goals.ts"
import * as ReportTables from "../src/ReportTables.ts"

const goals: BenchmarkGoals = { ratioMax: 1.5, peakMebibytesMax: 1024 }

const judge = (rounds: ReadonlyArray<Round>, median: number, of = goals) =>
  Goals.judge(of, [{ rounds: [{ failed: {} }] }, { rounds, ratio: { median, min: 0, max: 9 } }])

const linesOf = (judged: ReadonlyArray<Goals.JudgedGoal>) =>
  ReportTables.groups([{
    group: "neighbours",
    benchmark: { name: "neighbours-json", title: "Sums", compares: "p99" },
    results: [],
    goals: judged
  }]).flatMap(({ lines }) => lines)

it("goals are reached up to their limits", () => {
  const judged = judge([{ peakMebibytes: 900, failed: {} }, { peakMebibytes: 1024, failed: {} }], 1.5)
  assert.deepStrictEqual(judged.map(({ isReached }) => isReached), [true, true, true])
  assert.deepStrictEqual(linesOf(judged), [
    "**neighbours-json**: Sums; p99 at most 1.50x: reached, 1.50x; none fails: reached; at most 1,024 MiB: reached, 1,024 MiB"
  ])
})

it("goals are not reached above them, or if an operation of any round failed", () => {
  const failed = [{ "read 503": 1, "create 503": 2 }, {}, { "image 429": 1 }]
  const judged = judge(failed.map((failed) => ({ peakMebibytes: 1025, failed })), 1.51)
  assert.deepStrictEqual(linesOf(judged), [
    "**neighbours-json**: Sums; p99 at most 1.50x: not reached, 1.51x; none fails: not reached, 4 failed; " +
    "at most 1,024 MiB: not reached, 1,025 MiB"
  ])
})

it("only failed operations fail the command", () => {
  const outcomeOf = (name: string, goals: ReadonlyArray<Goals.JudgedGoal>) => ({ benchmark: { name }, goals })
  const slow = outcomeOf("slow", judge([{ peakMebibytes: 2000, failed: {} }], 9))
  const failing = outcomeOf("failing", judge([{ failed: { "read 503": 3 } }], 1))
  assert.isUndefined(Goals.failureOf([slow, { benchmark: { name: "without goals" } }]))
  assert.strictEqual(
    Goals.failureOf([slow, failing]),
    "Operations that must not fail have failed: failing (3)"
  )
})

it("every attack has goals", () => {
  const ratios = benchmarks.filter(({ group }) => group === "neighbours").map(({ goals, name }) => [
    name.slice("neighbours-".length),
    goals?.ratioMax,
    goals?.peakMebibytesMax
  ])
  assert.deepStrictEqual(ratios, [
    ["bodies", 1.5, 1024],
    ["json", 1.5, 1024],
    ["images", 1.5, 1024],
    ["uploads", 1.5, 1024],
    ["links", 1.5, 1024],
    ["jobs", 1.5, 1024],
    ["all", undefined, 1024],
    ["lock", 1.2, 1024],
    ["suspended", 1.5, 1024]
  ])
})
