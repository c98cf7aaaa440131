/** The stored results, and their tables. */
import { assert, it } from "@effect/vitest"
import * as Report from "../src/Report.ts"
import * as ReportTables from "../src/ReportTables.ts"
import * as Results from "../src/Results.ts"

const outcome = (name: string, group = "http"): ReportTables.ReportedOutcome => ({
  group,
  benchmark: { name, title: "Sums", compares: "perSecond" },
  results: [
    {
      name: "kinora",
      rounds: [{ perSecond: 1000, p50: 2, serverMicros: 500 }, { perSecond: 3000, p50: 4, serverMicros: 700 }],
      counts: { statements: 13, roundTrips: 12.55, walBytes: 4724 }
    },
    { name: "lean", rounds: [{ perSecond: 4000 }], ratio: { median: 0.5, min: 0.25, max: 12 } }
  ]
})

const report = (day: string, ...outcomes: ReadonlyArray<ReportTables.ReportedOutcome>): Report.Report => ({
  machine: "2 cores",
  load: 0,
  commit: "0123456789ab",
  day,
  postgres: "PostgreSQL",
  versions: [],
  rounds: { seconds: 2, pairs: 2, warmUps: 1 },
  limits: [
    { what: "a response", callers: 1, perSecond: 2000, p50: 0.5 },
    { what: "a response", callers: 64, perSecond: 9000.4, p50: 7 }
  ],
  outcomes
})

const cellsOf = (line: string | undefined) => line?.split("|").map((cell) => cell.trim()).slice(1, -1)

it("a run replaces earlier results of its benchmarks", () => {
  const first = Results.add({ runs: [] }, report("one", outcome("create"), outcome("get")))
  const second = Results.add(first, report("two", outcome("create")))
  const kept = ({ runs }: Results.Results) =>
    runs.map(({ day, outcomes }) => [day, ...outcomes.map(({ benchmark }) => benchmark.name)])
  assert.deepStrictEqual(kept(second), [["two", "create"], ["one", "get"]])
  assert.deepStrictEqual(kept(Results.add(second, report("three", outcome("get")))), [["three", "get"], [
    "two",
    "create"
  ]])
})

it("a group has a table with the columns that it has figures for", () => {
  const [http, jobs] = ReportTables.groups([outcome("create"), outcome("get"), outcome("claim", "jobs")])
  assert.deepStrictEqual([http?.title, jobs?.title], ["HTTP API", "Jobs"])
  const [head, , kinora, lean, get] = ReportTables.markdown(http!.table).split("\n")
  assert.deepStrictEqual(cellsOf(head), [
    "benchmark",
    "who",
    "per second (range)",
    "p50 ms",
    "server µs",
    "statements",
    "round trips",
    "WAL bytes",
    "Kinora is better by (range)"
  ])
  assert.deepStrictEqual(
    cellsOf(kinora),
    ["**create**", "kinora", "2,000 (1,000 to 3,000)", "3.00", "600", "13.0", "12.6", "4,724", ""]
  )
  assert.deepStrictEqual(cellsOf(lean), [
    "",
    "lean",
    "4,000 (4,000 to 4,000)",
    "",
    "",
    "",
    "",
    "",
    "0.50x (0.25x to 12x)"
  ])
  assert.strictEqual(cellsOf(get)?.[0], "**get**")
})

it("limits have a column for each number of callers", () => {
  const [head, , row] = ReportTables.markdown(ReportTables.limits(report("one").limits)).split("\n")
  assert.deepStrictEqual(cellsOf(head), ["limit", "per second, 1 caller (p50 ms)", "per second, 64 callers (p50 ms)"])
  assert.deepStrictEqual(cellsOf(row), ["a response", "2,000 (0.50)", "9,000 (7.00)"])
})

it("the page gets the tables of every run between its marks, again and again", () => {
  const results = Results.add(
    Results.add({ runs: [] }, report("one", outcome("get"))),
    report("two", outcome("create"))
  )
  const page = "# Benchmarks\n\n<!-- results -->\n\nold\n\n<!-- end of results -->\n\nThe end.\n"
  const once = Results.withTables(page, results)
  assert.strictEqual(Results.withTables(once, results), once)
  assert.isTrue(once.startsWith("# Benchmarks\n\n<!-- results -->\n\n- Machine: 2 cores"))
  assert.isTrue(once.endsWith("\n\n<!-- end of results -->\n\nThe end.\n"))
  assert.notInclude(once, "old")
  assert.deepStrictEqual(Array.from(once.matchAll(/^###+ (.*)$/gm), ([, title]) => title), [
    "HTTP API",
    "Run of one, commit 0123456",
    "HTTP API (one, commit 0123456)"
  ])
  assert.throws(() => Results.withTables("# Benchmarks\n", results))
})

it("the conditions of a run have the number of warm-up rounds", () => {
  const lineFor = (warmUps: number) =>
    Report.conditionsOf({ ...report("one"), rounds: { seconds: 2, pairs: 5, warmUps } }).at(-1)
  const rounds = "Rounds: 5 of about 2 s for each, in turns,"
  assert.deepStrictEqual([0, 1, 2].map(lineFor), [
    `${rounds} without a warm-up`,
    `${rounds} after one that does not count`,
    `${rounds} after 2 that do not count`
  ])
})

it("a start has its time and memory instead of a rate", () => {
  const start = (readySeconds: number) => ({ readySeconds, residentMebibytes: 200, peakMebibytes: 300 })
  const [boots] = ReportTables.groups([{
    group: "boots",
    benchmark: { name: "boot-again", title: "Starts", compares: "readySeconds" },
    results: [{ name: "kinora", rounds: [start(1), start(1.5)] }]
  }])
  assert.deepStrictEqual(boots?.table, {
    head: ["benchmark", "who", "ready after s (range)", "MiB after 2 s", "peak MiB"],
    rows: [["**boot-again**", "kinora", "1.25 (1.00 to 1.50)", "200", "300"]]
  })
})

it("stored figures have six digits, also in the tables that are written with them", () => {
  const results = Results.add({ runs: [] }, { ...report("one"), load: 1 / 3 })
  assert.strictEqual(results.runs[0]?.load, 0.333333)
  assert.deepStrictEqual(JSON.parse(Results.encode(results)), results)
})
