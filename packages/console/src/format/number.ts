/** Numbers with units. */

const decimal = new Intl.NumberFormat("en-US")
const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })

/** A number with separators: `1,204`. */
export const count = (value: number): string => decimal.format(value)

/** A number and its unit: `1 job`, `3 jobs`. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** US cents as dollars: `$29.00`. */
export const money = (cents: number): string => dollars.format(cents / 100)

/** A size in binary units: `1.4 MiB`. */
export const bytes = (value: number): string => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10))
  const scaled = value / 1024 ** power
  return `${scaled >= 100 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power] ?? "B"}`
}

/** A part of a whole in percent: `1.8 %`. `–` of an empty whole. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${(part / whole * 100).toFixed(1)} %`
