/** `kinora ledger`. */
import type { AdminStatement, AdminVerification } from "@kinora/http-api/AdminLedger"
import { Console, DateTime, Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Connection from "../Connection.ts"
import type { Operator } from "../Operator.ts"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { optionalText } from "./flags.ts"
import { operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"

type Verification = typeof AdminVerification.Type

/** Adds the result of the next accounts. */
const add = (sum: Verification, { accounts, discrepancies, next_cursor, totals }: Verification): Verification => ({
  accounts: sum.accounts + accounts,
  totals: {
    granted: sum.totals.granted + totals.granted,
    remaining: sum.totals.remaining + totals.remaining,
    held: sum.totals.held + totals.held,
    consumed: sum.totals.consumed + totals.consumed,
    expired: sum.totals.expired + totals.expired
  },
  discrepancies: [...sum.discrepancies, ...discrepancies],
  next_cursor
})

const render = ({ accounts, discrepancies, totals }: Verification): string => {
  const books = Output.properties([
    ["accounts", accounts],
    ["granted", totals.granted],
    ["remaining", totals.remaining],
    ["held", totals.held],
    ["consumed", totals.consumed],
    ["expired", totals.expired]
  ])
  const differences = Output.table(discrepancies, [
    { title: "ACCOUNT", value: ({ account }) => account },
    { title: "FIGURE", value: ({ figure }) => figure },
    { title: "OF", value: ({ subject }) => subject },
    { title: "BOOKED", value: ({ booked }) => booked ?? "-", isNumber: true },
    { title: "STORED", value: ({ kept }) => kept ?? "-", isNumber: true }
  ], "The books are consistent.")
  return `${books}\n\n${differences}`
}

const verify = operatorCommand(
  "verify",
  "Compare the books with the stored balances. Exits with 1 if they differ",
  {
    account: optionalText("account", "Only this account: its id or e-mail address")
  },
  Effect.fnUntraced(function*(operator, { account }) {
    const only = Option.isSome(account) ? { account: yield* idOf(operator, account.value) } : {}
    let found = yield* operator.ledger.verifyLedger({ query: only })
    while (found.next_cursor !== null) {
      yield* Output.progress(`${found.accounts} accounts verified`)
      found = add(found, yield* operator.ledger.verifyLedger({ query: { cursor: found.next_cursor } }))
    }
    yield* Output.show(found, render(found))
    if (found.discrepancies.length > 0) return yield* Connection.fail("The books differ from the stored balances.")
  })
)

const trialBalance = operatorCommand(
  "trial-balance",
  "Show the totals of all books. Exits with 1 if they do not balance",
  {},
  Effect.fnUntraced(function*(operator) {
    const found = yield* operator.ledger.getTrialBalance()
    const table = Output.table(found.data, [
      { title: "CLASS", value: (line) => line.class },
      { title: "UNIT", value: ({ unit }) => unit },
      { title: "DEBITS", value: ({ debits }) => debits, isNumber: true },
      { title: "CREDITS", value: ({ credits }) => credits, isNumber: true },
      { title: "BALANCE", value: ({ balance }) => balance, isNumber: true }
    ], "The ledger has no books.")
    yield* Output.show(found, `${table}\n\n${found.balanced ? "The books balance." : "The books do not balance."}`)
    if (!found.balanced) return yield* Connection.fail("The books do not balance. `kinora ledger verify` finds where.")
  })
)

const bookings = operatorCommand(
  "bookings",
  "List the bookings of a job: its charge, and its refund",
  { job: Argument.String("job").pipe(Argument.withDescription("Id of the job, gen_…")) },
  Effect.fnUntraced(function*(operator, { job }) {
    const found = yield* operator.ledger.listBookings({ params: { id: job } })
    yield* showList(found, [
      { title: "TRANSACTION", value: ({ id }) => id },
      { title: "KIND", value: ({ kind }) => kind },
      { title: "AMOUNT", value: ({ amount }) => amount, isNumber: true },
      { title: "TIME", value: (transaction) => Output.time(transaction.created_at) },
      { title: "ENTRIES", value: entriesOf }
    ], "The job has no bookings.")
  })
)

type Transaction = (typeof AdminStatement.Type)["data"][number]

const transactionColumns: ReadonlyArray<Output.Column<Transaction>> = [
  { title: "TIME", value: (transaction) => Output.time(transaction.created_at) },
  { title: "KIND", value: ({ kind }) => kind },
  { title: "AMOUNT", value: ({ amount }) => amount, isNumber: true },
  { title: "REFERENCE", value: ({ reference }) => reference },
  { title: "ENTRIES", value: entriesOf }
]

const statement = operatorCommand(
  "statement",
  "List the bookings of an account, newest first",
  {
    account,
    csv: Flag.Boolean("csv").pipe(
      Flag.withDescription("Print all bookings as CSV, one line per entry"),
      Flag.withDefault(false)
    ),
    ...page("bookings", { maximum: 1_000, usual: 100 })
  },
  Effect.fnUntraced(function*(operator, { account, csv, cursor, limit }) {
    const params = { id: yield* idOf(operator, account) }
    if (csv) return yield* writeCsv(operator, params)
    const page = yield* operator.ledger.listTransactions({
      params,
      query: pageQuery({ cursor, limit })
    })
    yield* showList(page, transactionColumns, "The account has no bookings.")
  })
)

/** Verifies, sums up and lists bookings. */
export const ledgerCommand = Command.make("ledger").pipe(
  Command.withDescription("Verify and sum up the books, and list bookings"),
  Command.withSubcommands([verify, trialBalance, statement, bookings])
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function entriesOf({ entries }: Transaction): string {
  return entries.map(({ amount, from, to }) => `${amount} ${from} → ${to}`).join(", ")
}

/** Prints all bookings as CSV, page by page. */
function writeCsv(operator: Operator, params: { readonly id: string }) {
  const pages = Stream.paginate(undefined as string | undefined, (cursor) =>
    Effect.map(
      operator.ledger.listTransactions({
        params,
        query: { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) }
      }),
      ({ data, next_cursor: next }) => [data.flatMap(linesOf), Option.fromNullOr(next)] as const
    ))
  return Stream.concat(Stream.succeed(titles), pages).pipe(Stream.runForEach((line) => Console.log(line)))
}

const titles = "transaction,time,kind,reference,reverses,from,to,amount"

/** One line per entry; a booking of 0 credits has no entries, and one line. */
function linesOf({ created_at: time, entries, id, kind, reference, reverses }: Transaction): ReadonlyArray<string> {
  const moves = entries.length === 0 ? [{ from: "", to: "", amount: 0 }] : entries
  return moves.map(({ amount, from, to }) =>
    [id, DateTime.formatIso(time), kind, reference, reverses ?? "", from, to, String(amount)].map(quoted).join(",")
  )
}

/** Quotes a value by RFC 4180. A value that a spreadsheet would read as a formula starts with an apostrophe. */
function quoted(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
}
