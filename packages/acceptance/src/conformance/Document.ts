/** `docs/conformance.md`: every sentence, the tests that hold it, and how they ended on each host. */
import { Schema } from "effect"
import { all, type RequirementId } from "./Requirements.ts"
import type { Host } from "./Stage.ts"

/** What vitest's JSON reporter writes, as far as it matters here. */
export const Report = Schema.Struct({
  testResults: Schema.Array(Schema.Struct({
    assertionResults: Schema.Array(Schema.Struct({
      ancestorTitles: Schema.Array(Schema.String),
      title: Schema.String,
      status: Schema.String
    }))
  }))
})

/** A test that holds a sentence: the file that declares it, and the hosts that ran it. */
export interface Row {
  readonly id: string
  readonly file: string
  readonly passed: Readonly<Partial<Record<Host, boolean>>>
}

/** The rows of a report, one for each sentence that a test names, in the order of the tests. */
export const rowsOf = ({ testResults }: typeof Report.Type): ReadonlyArray<Row> => {
  const rows = new Map<string, { id: string; file: string; passed: Partial<Record<Host, boolean>> }>()
  for (const { ancestorTitles, status, title } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
    const [host, file] = ancestorTitles
    if (!isHost(host) || file === undefined || status === "skipped") continue
    for (const id of idsOf(title)) {
      const key = `${id} ${file}`
      const row = rows.get(key) ?? { id, file, passed: {} }
      row.passed[host] = status === "passed" && row.passed[host] !== false
      rows.set(key, row)
    }
  }
  return [...rows.values()]
}

/** The document. */
export const render = (rows: ReadonlyArray<Row>): string => {
  const sections = Map.groupBy(all, ({ section }) => section)
  return [
    head,
    ...[...sections].map(([section, sentences]) => {
      const lines = sentences.flatMap(({ id, text }) => linesOf(id, text, rows))
      return [`## ${section}`, "", tableHead, ...lines, ""].join("\n")
    })
  ].join("\n")
}

/** The ids, files and hosts of a document, to be compared with the tests that there are. */
export const parse = (document: string): ReadonlyArray<Row> =>
  document.split("\n").flatMap((line) => {
    const [, id, , file, ...cells] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (id === undefined || file === undefined || !/^`.+`$/.test(id)) return []
    const passed = Object.fromEntries(
      hosts.flatMap((host, n) => cells[n] === undefined || cells[n] === never ? [] : [[host, cells[n] === good]])
    )
    return [{ id: id.slice(1, -1), file: /\[(\w+)\]/.exec(file)?.[1] ?? "", passed }]
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** In the order of the columns. */
const hosts: ReadonlyArray<Host> = ["memory", "PGlite", "Postgres"]

/** The ids that a test's title begins with. */
const idsOf = (title: string): ReadonlyArray<string> => title.slice(0, title.indexOf(": ")).split(", ")

const [good, bad, never] = ["✔", "✘", "–"] as const

const head = `# Conformance

What the interface promises, sentence by sentence, with the decisions on what it leaves open, and the test that holds each. The tests know of the service what a client and an operator can see over HTTP. They run on three hosts: in memory, where the test moves the time, and as a server of its own on PGlite and on a Postgres, over a socket.

${good} passed, ${bad} failed. A dash: the test does not run there. Memory only means virtual time only: minutes or days have to pass, or a limit has to be small. Not in memory means real time: a network takes it. Postgres only means that two servers share a database, or that something is wrong in it.

Written by \`npm run conformance -w @kinora/acceptance\`; the sentences are in [packages/acceptance/src/conformance](../packages/acceptance/src/conformance), the tests in [packages/acceptance/test/conformance](../packages/acceptance/test/conformance).
`

const tableHead = `| id | sentence | tests | memory | PGlite | Postgres |
| --- | --- | --- | --- | --- | --- |`

const isHost = (name: string | undefined): name is Host => hosts.some((host) => host === name)

const linesOf = (id: RequirementId, text: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  rows.filter((row) => row.id === id).map(({ file, passed }) => {
    const cells = hosts.map((host) => passed[host] === undefined ? never : passed[host] ? good : bad)
    const test = `[${file}](../packages/acceptance/test/conformance/${file}.ts)`
    return `| \`${id}\` | ${text.replaceAll("|", "\\|")} | ${test} | ${cells.join(" | ")} |`
  })
