/** Credits, bookings and their verification in the admin API. */
import { Schema } from "effect"
import { Reference } from "./AdminWallet.ts"
import { field, flag, int, list, nullable, object, optional, requestTime, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { Int64 } from "./Scalar.ts"

/** The maximum of credits in one lot. */
export const lotCreditsMax = 1_000_000_000_000

/** Where the credits of a lot come from. */
export const LotKind = Schema.Literals(["plan", "addon", "trial", "refund"])

/** Grants credits. */
export const GrantLotRequest = object("GrantLotRequest", "The credits to grant.", {
  reference: field(Reference, "Names the grant. Repeating the same grant opens no second lot."),
  kind: field(LotKind, "Where the credits come from."),
  credits: field(Int64.check(Schema.isBetween({ minimum: 1, maximum: lotCreditsMax })), "The number of credits."),
  expires_at: requestTime("When the credits expire, in the future."),
  images_only: optional(Schema.Boolean, "Whether the credits pay for image jobs only. Default: false.")
})
/** See the schema of the same name. */
export type GrantLotRequest = typeof GrantLotRequest.Type

/** Credits that were granted together and expire together. */
export const AdminLot = object("AdminLot", "Credits that were granted together and expire together.", {
  id: text("The id of the lot."),
  reference: text("The reference of the request."),
  kind: field(LotKind, "Where the credits come from."),
  credits: int("The credits granted."),
  remaining: int("The credits that are left."),
  images_only: flag("Whether the credits pay for image jobs only."),
  watermark: flag("Whether the credits are trial credits. Jobs of the API never use these."),
  expires_at: time("When the credits expire."),
  created_at: time("When the credits were granted.")
})
/** See the schema of the same name. */
export type AdminLot = typeof AdminLot.Type

/** Credits of a lot that were revoked. */
export const AdminRevocation = object("AdminRevocation", "The credits of a lot that were revoked.", {
  lot: text("The id of the lot."),
  credits: int("The credits that were left in the lot; 0 if it was revoked or had expired before.")
})

const book = "`lot_…`, `source:<kind>`, `held:<reference>`, `consumed`, `expired`, `allowance` or `quota:<kind>:<day>`."

/** A movement between two books. */
export const AdminEntry = object("AdminEntry", "A movement between two books.", {
  from: text(`The book that decreases: ${book}`),
  to: text(`The book that increases: ${book}`),
  amount: int("Credits, or jobs of a quota; at least 1.")
})

/** A transaction of an account. Transactions never change. */
export const AdminTransaction = object("AdminTransaction", "A transaction of an account. It never changes.", {
  id: text("The id of the transaction."),
  account: text("The id of the account."),
  kind: field(
    Schema.Literals(["grant", "charge", "refund", "expire", "hold", "release"]),
    "The kind of the transaction."
  ),
  reference: text("The subject of the transaction: for charges and refunds, the id of the job."),
  created_at: time("When the transaction was booked."),
  amount: int("The sum of the entries; 0 for jobs that cost nothing."),
  reverses: nullable(Schema.String, "For a refund, the id of the charge; for a release, the id of the hold."),
  entries: list(AdminEntry, "The movements.")
})

/** Transactions, oldest first. */
export const AdminTransactionList = object("AdminTransactionList", "The transactions of a job, oldest first.", {
  data: list(AdminTransaction, "The transactions.")
})

/** A page of the transactions of an account. */
export const AdminStatement = page("AdminStatement", AdminTransaction, "the transactions of an account, newest first")

/** Credits of a lot that can still be used. */
export const AdminLotBalance = object("AdminLotBalance", "A lot that has credits and has not expired.", {
  id: text("The id of the lot."),
  kind: field(LotKind, "Where the credits come from."),
  credits: int("The credits granted."),
  remaining: int("The credits that are left."),
  images_only: flag("Whether the credits pay for image jobs only."),
  expires_at: time("When the credits expire."),
  created_at: time("When the credits were granted.")
})

/** The credits of an account that jobs can use, and the use of its quotas. */
export const AdminBalances = object("AdminBalances", "The credits of an account, and the use of its quotas.", {
  credits: int("The credits that jobs can use: those of all lots but trial ones."),
  credits_images_only: int("The part of `credits` that pays for images only."),
  lots: list(AdminLotBalance, "The lots that are neither empty nor expired, in the order in which jobs use them."),
  quota_used: field(
    Schema.Struct({
      images: int("Image jobs of today."),
      videos: int("Video jobs of today.")
    }),
    "The use of the daily quotas of the Studio plan."
  ),
  resets_at: time("When the quotas reset: the next 00:00 UTC.")
})
/** See the schema of the same name. */
export type AdminBalances = typeof AdminBalances.Type

/** A figure that differs from the books. */
export const AdminDiscrepancy = object("AdminDiscrepancy", "A figure that differs from the books.", {
  account: text("The id of the account."),
  figure: field(Schema.Literals(["remaining", "granted", "used", "held", "amount"]), "The figure that differs."),
  subject: text("The lot, the book of the quota or hold, or the transaction that has the figure."),
  booked: nullable(Int64, "The value according to the books; `null` if the books have none."),
  kept: nullable(Int64, "The stored value; `null` if it is missing.")
})

/** The result of a verification. */
export const AdminVerification = object(
  "AdminVerification",
  "The result of a verification. In consistent books, `granted` is the sum of `remaining`, `held`, `consumed` and `expired`.",
  {
    accounts: int("The number of accounts verified."),
    totals: field(
      Schema.Struct({
        granted: int("Credits granted."),
        remaining: int("Credits left."),
        held: int("Credits of holds: taken from lots and not charged yet."),
        consumed: int("Credits charged for jobs."),
        expired: int("Credits expired.")
      }),
      "Credits of these accounts."
    ),
    discrepancies: list(AdminDiscrepancy, "The first 100 discrepancies; empty if the books are consistent."),
    next_cursor: nullable(Schema.String, "The `cursor` of the next call; `null` if no accounts are left.")
  }
)

/** The totals of a class of books. */
export const AdminTrialBalanceLine = object("AdminTrialBalanceLine", "The totals of a class of books.", {
  class: field(
    Schema.Literals(["granted", "remaining", "held", "consumed", "expired", "allowance", "used"]),
    "The class: `granted` are the books `source:<kind>`, `remaining` the lots, `held` the holds, and `used` the quotas."
  ),
  unit: field(Schema.Literals(["credits", "jobs"]), "The unit of the amounts."),
  debits: int("The sum of the entries to books of the class."),
  credits: int("The sum of the entries from books of the class."),
  balance: int("`debits` minus `credits`.")
})

/** The totals of all books. */
export const AdminTrialBalance = object("AdminTrialBalance", "The totals of all books as of one moment.", {
  data: list(AdminTrialBalanceLine, "One line per class."),
  booked: int("The sum of the amounts of all transactions. In consistent books, it is the sum of all `debits`."),
  balanced: flag("Whether debits equal credits in each unit, and `booked` equals the sum of all debits.")
})
