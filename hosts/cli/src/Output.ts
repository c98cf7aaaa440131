/** The output of commands: text for people, JSON for programs. */
import { Console, DateTime, Effect } from "effect"
import { styleText } from "node:util"
import stringWidth from "string-width"
import { Json } from "./Settings.ts"

/** Prints a response: the text, or the JSON of the response with `--json`. */
export const show = Effect.fnUntraced(function*(response: unknown, text: string) {
  yield* progress("")
  yield* Console.log((yield* Json) ? JSON.stringify(response, undefined, 2) : text)
})

/** Shows the progress of long work on a terminal, in a line that the next output replaces. */
export const progress = (text: string) =>
  Effect.sync(() => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`)
  })

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string | number
  /** Whether the column contains numbers, which are aligned at their ends. */
  readonly isNumber?: boolean
}

/** Renders rows below a line of titles, or `nothing` if there are none. Columns are as wide as their widest value. */
export const table = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  nothing: string
): string => {
  if (rows.length === 0) return nothing
  const texts = columns.map(({ title, value }) => [title, ...rows.map((row) => printable(String(value(row))))])
  const widths = texts.map((column) => Math.max(...column.map((text) => stringWidth(text))))
  const line = (at: number) =>
    texts.map((column, index) => pad(column[at]!, widths[index]!, columns[index]!.isNumber)).join("  ").trimEnd()
  const [head, ...body] = texts[0]!.map((_, at) => line(at))
  return [bold(head!), ...body].join("\n")
}

/** Renders the properties of one thing, a line each. */
export const properties = (pairs: ReadonlyArray<readonly [name: string, value: string | number]>): string => {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${bold(name.padEnd(width))}  ${printable(String(value))}`).join("\n")
}

/** Renders a time to the second, in UTC. */
export const time = (time: DateTime.DateTime | null): string =>
  time === null ? "-" : DateTime.formatIso(time).replace("T", " ").replace(/\.\d+Z/, "Z")

/** Renders an amount of US cents. */
export const dollars = (cents: number): string => `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pad = (text: string, width: number, isNumber = false) => {
  const space = " ".repeat(width - stringWidth(text))
  return isNumber ? space + text : text + space
}

/** Text from the service cannot move the cursor or change colours. */
const printable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\u{fffd}")

/** Bold on a terminal, unless `NO_COLOR` is set. */
const bold = (text: string) => styleText("bold", text, { stream: process.stdout })
