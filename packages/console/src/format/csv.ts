/** CSV files. */

/** A cell. Text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe. */
const cell = (value: string | number | null): string =>
  value === null
    ? ""
    : typeof value === "number"
    ? String(value)
    : `"${value.replace(/^[=+\-@\t\r]/, "'$&").replaceAll("\"", "\"\"")}"`

/** Writes rows as CSV (RFC 4180), with a line of titles. */
export const csv = (
  titles: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>
): string => [titles.join(","), ...rows.map((row) => row.map(cell).join(","))].join("\r\n")

/** Offers a text to the browser as a file. */
export const download = (name: string, text: string, type = "text/csv"): void => {
  const url = URL.createObjectURL(new Blob([text], { type }))
  Object.assign(document.createElement("a"), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
