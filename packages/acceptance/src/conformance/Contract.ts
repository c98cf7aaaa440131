/** Reads the contract in `docs/reference`, statement by statement. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"

/** A paragraph, an item of a list or a row of a table. */
export interface Statement {
  /** Anchor of its section. */
  readonly section: string
  /** On one line, with single spaces. */
  readonly text: string
}

/** The statements of a page of `docs/reference`. Headings, blocks of code and heads of tables are none. */
export const read = async (page: string): Promise<ReadonlyArray<Statement>> =>
  parse(await readFile(join(import.meta.dirname, "../../../../docs/reference", `${page}.md`), "utf8"))

/** See `read`. */
export const parse = (markdown: string): ReadonlyArray<Statement> => {
  const statements: Array<Statement> = []
  let section = ""
  for (const block of markdown.replaceAll(/^```.*?^```$/gms, "").split(/\n\s*\n/)) {
    const lines = block.trim().split("\n")
    const heading = /^#+ (.*)$/.exec(lines[0] ?? "")?.[1]
    if (heading !== undefined) section = anchorOf(heading)
    const rest = heading === undefined ? lines : lines.slice(1)
    statements.push(...textsOf(rest).map((text) => ({ section, text })))
  }
  return statements
}

/** Text on one line, with single spaces. */
export const normalise = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")

const textsOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = ""] = lines
  if (first === "" || first.startsWith("<!--")) return []
  // The first two lines are the head.
  if (first.startsWith("|")) return lines.slice(2).map(normalise)
  return lines.join("\n").split(/\n(?=- |\d+\. )/).map(normalise)
}
