/** `artifacts/conformance.md`: every statement that has a case, and how its cases ended on each host. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { all, type Requirement, type RequirementId } from "./Requirements.ts"
import type { Host } from "./Stage.ts"

/** How the cases of a host ended. */
export interface HostResult {
  readonly finishedAt: string
  /** Whether all cases passed that prove the statement, by file. */
  readonly passed: Readonly<Record<string, Readonly<Record<string, boolean>>>>
}

/** Collects how the cases of a host end. */
export class Recorder {
  readonly #passed: Record<string, Record<string, boolean>> = {}
  #cases = 0

  /** Records the end of a case of this file. */
  record(file: string, ids: ReadonlyArray<RequirementId>, passed: boolean): void {
    this.#cases++
    for (const id of ids) {
      const files = this.#passed[id] ??= {}
      files[file] = passed && files[file] !== false
    }
  }

  /** Number of recorded cases. */
  get cases(): number {
    return this.#cases
  }

  /** The results so far. */
  result(finishedAt: Date): HostResult {
    return { finishedAt: finishedAt.toISOString(), passed: this.#passed }
  }
}

/** Stores the results of a host and writes the report from the results of all hosts. Returns its path. */
export const write = async (host: Host, result: HostResult): Promise<string> => {
  await mkdir(join(artifacts, "conformance"), { recursive: true })
  await replaceFile(resultFile(host), JSON.stringify(result))
  const results = await Promise.all(hosts.map(async (host) => [host, await read(host)] as const))
  await replaceFile(report, render(new Map(results)))
  return report
}

/** The report. */
export const render = (results: ReadonlyMap<Host, HostResult | undefined>): string => {
  const sections = Map.groupBy(all, ({ page, section }) => `${page}.md#${section}`)
  return [
    head(results),
    ...[...sections].map(([section, requirements]) => {
      const lines = requirements.flatMap((requirement) => linesOf(requirement, results))
      return [`## [${section}](../docs/reference/${section})`, "", tableHead, ...lines, ""].join("\n")
    })
  ].join("\n")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** In the order of the columns. */
const hosts: ReadonlyArray<Host> = ["memory", "PGlite", "Postgres"]

const artifacts = join(import.meta.dirname, "../../../../artifacts")
const report = join(artifacts, "conformance.md")
const resultFile = (host: Host) => join(artifacts, "conformance", `${host}.json`)

/** Hosts can finish at the same moment, so nobody may read half a file. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, text)
  await rename(temporary, path)
}

const read = async (host: Host): Promise<HostResult | undefined> => {
  try {
    return JSON.parse(await readFile(resultFile(host), "utf8"))
  } catch {
    return undefined
  }
}

const head = (results: ReadonlyMap<Host, HostResult | undefined>): string =>
  `# Conformance

Statements of the contract, the cases that prove them, and how these ended on each host: ✔ passed, ✘ failed, – no case on this host.

| host | last complete run |
| --- | --- |
${hosts.map((host) => `| ${host} | ${results.get(host)?.finishedAt ?? "never"} |`).join("\n")}
`

const tableHead = `| id | statement | cases | ${hosts.join(" | ")} |
| --- | --- | --- | --- | --- | --- |`

const linesOf = (
  { id, quote }: Requirement,
  results: ReadonlyMap<Host, HostResult | undefined>
): ReadonlyArray<string> => {
  const files = new Set(hosts.flatMap((host) => Object.keys(results.get(host)?.passed[id] ?? {})))
  return [...files].map((file) => {
    const cells = hosts.map((host) => {
      const passed = results.get(host)?.passed[id]?.[file]
      return passed === undefined ? "–" : passed ? "✔" : "✘"
    })
    const link = `[${file}](../packages/acceptance/test/conformance/${file}.ts)`
    return `| \`${id}\` | ${quote.replaceAll("|", "\\|")} | ${link} | ${cells.join(" | ")} |`
  })
}
