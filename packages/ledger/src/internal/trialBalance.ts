/** The trial balance: the totals of all books by class. */
import * as Book from "./Book.ts"

/** The classes of books in credits: `source:<kind>`, lots, `held:<reference>`, `consumed` and `expired`. */
const creditClasses = ["granted", "remaining", "held", "consumed", "expired"] as const

/** The classes of books of quotas, whose unit is called jobs: `allowance`, and `quota:<kind>:<day>`. */
const jobClasses = ["allowance", "used"] as const

/** The classes of books. */
export const bookClasses = [...creditClasses, ...jobClasses]

/** A class of books. */
type BookClass = (typeof bookClasses)[number]

/** The totals of a class of books. */
interface TrialBalanceLine {
  readonly class: BookClass
  /** The unit of the amounts: credits of lots, or `jobs` for what counts to quotas. */
  readonly unit: "credits" | "jobs"
  /** The sum of the entries to books of the class. */
  readonly debits: number
  /** The sum of the entries from books of the class. */
  readonly credits: number
  /** `debits - credits`. */
  readonly balance: number
}

/** The totals of all books as of one moment. */
export interface TrialBalance {
  /** One line per class. */
  readonly lines: ReadonlyArray<TrialBalanceLine>
  /** The sum of the amounts of all transactions. In sound books, it equals the sum of the debits. */
  readonly booked: number
  /** Whether debits equal credits in each unit, and `booked` equals the sum of the debits. */
  readonly balanced: boolean
}

/** The sums that a store returns. */
export interface Moved {
  /** Amounts by the classes that they were moved from and to. `null` is a book that the ledger does not have. */
  readonly moved: ReadonlyArray<{
    readonly from: BookClass | null
    readonly to: BookClass | null
    readonly amount: number
  }>
  /** The sum of the amounts of all transactions. */
  readonly booked: number
}

/** Returns the class of a book. `sql/findMoved.ts` does the same in SQL. */
export const classOf = (book: Book.Book): BookClass | null => {
  if (Book.isLot(book)) return "remaining"
  if (Book.isQuota(book)) return "used"
  if (Book.isHold(book)) return "held"
  if (book.startsWith("source:")) return "granted"
  return book === "consumed" || book === "expired" || book === "allowance" ? book : null
}

/** Returns the trial balance. */
export const trialBalanceOf = ({ booked, moved }: Moved): TrialBalance => {
  const lineOf = (unit: TrialBalanceLine["unit"]) => (of: BookClass): TrialBalanceLine => {
    const debits = sum(moved.filter(({ to }) => to === of))
    const credits = sum(moved.filter(({ from }) => from === of))
    return { class: of, unit, debits, credits, balance: debits - credits }
  }
  const inCredits = creditClasses.map(lineOf("credits"))
  const inJobs = jobClasses.map(lineOf("jobs"))
  const lines = [...inCredits, ...inJobs]
  const debits = lines.reduce((total, line) => total + line.debits, 0)
  return { lines, booked, balanced: isZero(inCredits) && isZero(inJobs) && booked === debits }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sum = (amounts: Moved["moved"]): number => amounts.reduce((total, { amount }) => total + amount, 0)

const isZero = (lines: ReadonlyArray<TrialBalanceLine>): boolean =>
  lines.reduce((total, { balance }) => total + balance, 0) === 0
