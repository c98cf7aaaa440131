/** Bookings in words. */
import type { Transaction } from "../api/types.ts"
import { plural } from "./number.ts"

const signs = { grant: "+", charge: "−", refund: "+", expire: "−", hold: "−", release: "+" } as const

/** The amount with its sign and its unit: `−12 credits`, `+1 image`. */
export const amountOf = ({ amount, entries, kind }: Pick<Transaction, "amount" | "entries" | "kind">): string => {
  const quota = entries.flatMap(({ from, to }) => [from, to]).find((book) => book.startsWith("quota:"))
  return `${signs[kind]}${plural(amount, quota?.split(":")[1] ?? "credit")}`
}
