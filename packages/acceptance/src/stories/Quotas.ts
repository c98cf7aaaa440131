/** The daily quotas of a story: none is exceeded, and every job counts to its day. */
import { KeySpending } from "@kinora/accounts"
import type { Generation } from "@kinora/generations/Generation"
import type { Transaction } from "@kinora/ledger/Transaction"
import { DateTime } from "effect"
import { imagesPerDay } from "./StoryHost.ts"

/** Returns a problem for each day to which an account counts more jobs than its quota permits. */
export const problemsOfLimit = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  Array.from(countsOf(transactions))
    .filter(([, count]) => count > imagesPerDay)
    .map(([book, count]) => `${count} jobs count to ${book}; the quota is ${imagesPerDay}`)

/** The jobs of an account and its books. */
export interface Counted {
  readonly jobs: ReadonlyArray<Generation>
  readonly transactions: ReadonlyArray<Transaction>
  /** How far the clocks of the hosts are ahead of the database's, in milliseconds. */
  readonly skews: ReadonlyArray<number>
  /** The count of the day of `now`. */
  readonly used: number
  readonly now: DateTime.Utc
}

/** Returns a problem unless exactly the jobs that are not refunded count, each to the day of its creation. */
export const problemsOfJobs = ({ jobs, now, skews, transactions, used }: Counted): ReadonlyArray<string> => {
  const counts = countsOf(transactions)
  const total = Array.from(counts.values()).reduce((sum, count) => sum + count, 0)
  const counted = jobs.filter(({ plan, refunded }) => plan === "studio" && !refunded).length
  const today = counts.get(`${prefix}image:${KeySpending.dayOf(now)}`) ?? 0
  return [
    ...problemsOfDays(jobs, transactions, skews),
    ...total === counted ? [] : [`${total} images are counted to quotas; ${counted} jobs are`],
    ...used === today ? [] : [`${used} images are counted to the quota of today; ${today} are booked`]
  ]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const prefix = "quota:"

const isQuota = (book: string): boolean => book.startsWith(prefix)

/** The number of jobs by quota and day. */
const countsOf = (transactions: ReadonlyArray<Transaction>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const add = (book: string, amount: number) => {
    if (isQuota(book)) counts.set(book, (counts.get(book) ?? 0) + amount)
  }
  for (const { amount, from, to } of transactions.flatMap(({ entries }) => entries)) {
    add(to, amount)
    add(from, -amount)
  }
  return counts
}

/** A job has the time of its host. Its day is that of the database, and in memory that of the host. */
const problemsOfDays = (
  jobs: ReadonlyArray<Generation>,
  transactions: ReadonlyArray<Transaction>,
  skews: ReadonlyArray<number>
): ReadonlyArray<string> => {
  const booked = transactions.filter(({ kind }) => kind === "charge").flatMap(({ entries, reference }) =>
    entries.filter(({ to }) => isQuota(to)).map(({ to }) => ({ book: to, reference }))
  )
  return booked.filter(({ book, reference }) => {
    const days = jobs.filter(({ id }) => id === reference).flatMap(({ createdAt }) =>
      [0, ...skews].map((milliseconds) => KeySpending.dayOf(DateTime.subtract(createdAt, { milliseconds })))
    )
    return !days.some((day) => book.endsWith(`:${day}`))
  }).map(({ book, reference }) => `${reference} counts to ${book}`)
}
