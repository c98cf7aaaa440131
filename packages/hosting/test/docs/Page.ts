/**
 * Pages of the documentation, and the tables in them that are generated from code. A generated table
 * stands between `<!-- table: name -->` and `<!-- end of table -->`. `npm run docs:tables` rewrites them.
 */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

/** A Markdown table. Every row has as many cells as the head. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** Reads a page, given its path below `docs/`. */
export const read = (page: string): Effect.Effect<string> => Effect.promise(() => readFile(pathOf(page), "utf8"))

/**
 * Fails if a generated table of the page differs from the given one, or if the page lacks one of them. With
 * vitest's `--update` it rewrites the page instead.
 */
export const expectTables = Effect.fnUntraced(function*(page: string, tables: Readonly<Record<string, Table>>) {
  const text = yield* read(page)
  const names = Array.from(text.matchAll(/^<!-- table: (\w+) -->$/gm), ([, name = ""]) => name)
  expect(names.toSorted()).toEqual(Object.keys(tables).toSorted())
  const generated = text.replaceAll(
    /^(<!-- table: (\w+) -->\n).*?(^<!-- end of table -->$)/gms,
    (_, start: string, name: string, end: string) => `${start}\n${markdown(tables[name]!)}\n${end}`
  )
  yield* Effect.promise(() => expect(generated).toMatchFileSnapshot(pathOf(page)))
})

/** Fails if the content of a file below `docs/` differs from the given one. With vitest's `--update` it rewrites the file. */
export const expectFile = (file: string, content: string) =>
  Effect.promise(() => expect(content).toMatchFileSnapshot(pathOf(file)))

/**
 * Returns a row per name: the name, and the cells that the page has about it. Throws if a name has no cells, or if there are
 * cells for a name that the code does not have.
 */
export const rowsOf = (
  names: Iterable<string>,
  cells: Readonly<Record<string, string | ReadonlyArray<string>>>
): Table["rows"] => {
  const known = Array.from(names)
  expect(Object.keys(cells).toSorted()).toEqual(known.toSorted())
  return known.map((name) => [code(name), ...[cells[name]!].flat()])
}

/** Formats an inline code span. An empty text stays empty. */
export const code = (text: string) => text === "" ? "" : `\`${text}\``

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pathOf = (page: string) => fileURLToPath(new URL(`../../../../docs/${page}`, import.meta.url))

/** Formatted as dprint formats it, so that formatting a page does not change it. */
const markdown = ({ head, rows }: Table): string => {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)))
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`
  return [lines[0], rule, ...lines.slice(1)].join("")
}
