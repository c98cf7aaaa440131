/** Tables of the documentation, to be compared with what they document. */

/** The rows of the table below a heading of a document, cell by cell. */
export const rowsBelow = (text: string, heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = text.slice(text.indexOf(`\n${heading}\n`) + heading.length + 2).split("\n")
  const start = lines.findIndex((line) => line.startsWith("|"))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"))
  return lines.slice(start + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
}

/** As a cell shows what programs are told; nothing stays nothing. */
export const code = (text: string) => text === "" ? "" : `\`${text}\``
