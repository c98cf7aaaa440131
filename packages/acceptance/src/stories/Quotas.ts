/** The daily quotas of a story: none is exceeded, and every job counts to its day. */
import { KeySpending } from "@kinora/accounts"
import type { Generation, GenerationId } from "@kinora/generations/Generation"
import type { Transaction } from "@kinora/ledger/Transaction"
import { DateTime } from "effect"
import { imagesPerDay } from "./StoryHost.ts"

/** Returns a problem for each day to which an account counts more jobs than its quota permits. */
export const problemsOfLimit = (transactions: ReadonlyArray<CountedTransaction>): ReadonlyArray<string> =>
  Array.from(countsOf(transactions))
    .filter(([, count]) => count > imagesPerDay)
    .map(([book, count]) => `${count} jobs count to ${book}; the quota is ${imagesPerDay}`)

/** The used part of a job. */
export type CountedJob = Pick<Generation, "id" | "plan" | "refunded" | "createdAt">
/** The used part of a transaction. */
export type CountedTransaction = Pick<Transaction, "kind" | "reference" | "entries">

/** The jobs of an account and its books. */
export interface Counted {
  readonly jobs: ReadonlyArray<CountedJob>
  readonly transactions: ReadonlyArray<CountedTransaction>
  /** How far the clock that has set `createdAt` can have been ahead of the one that decides on days, in milliseconds. */
  readonly skewsOf: (job: GenerationId) => ReadonlyArray<number>
  /** The count of the day of `now`. */
  readonly used: number
  readonly now: DateTime.Utc
}

/** Returns a problem unless exactly the jobs that are not refunded count, each to the day of its creation. */
export const problemsOfJobs = ({ jobs, now, skewsOf, transactions, used }: Counted): ReadonlyArray<string> => {
  const counts = countsOf(transactions)
  const total = Array.from(counts.values()).reduce((sum, count) => sum + count, 0)
  const counted = jobs.filter(({ plan, refunded }) => plan === "studio" && !refunded).length
  const today = counts.get(`${prefix}image:${KeySpending.dayOf(now)}`) ?? 0
  return [
    ...problemsOfDays({ jobs, transactions, skewsOf }),
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
const countsOf = (transactions: ReadonlyArray<CountedTransaction>): ReadonlyMap<string, number> => {
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

/** A transaction can be decided later than its job was created: a statement stalls for up to 6 seconds. */
const lateMillisMax = 10_000

/** A job has the time of its host. Its charge counts to the day of that time by the clock that decides on days. */
const problemsOfDays = ({ jobs, skewsOf, transactions }: Pick<Counted, "jobs" | "transactions" | "skewsOf">) => {
  const daysOf = new Map(jobs.map(({ createdAt, id }): readonly [string, ReadonlySet<string>] => [
    id,
    new Set(
      skewsOf(id).flatMap((skew) =>
        [0, lateMillisMax].map((late) => KeySpending.dayOf(DateTime.add(createdAt, { milliseconds: late - skew })))
      )
    )
  ]))
  return transactions.filter(({ kind }) => kind === "charge").flatMap(({ entries, reference }) =>
    entries.filter(({ to }) => isQuota(to) && daysOf.get(reference)?.has(to.split(":").at(-1) ?? "") !== true)
      .map(({ to }) => `${reference} counts to ${to}`)
  )
}
