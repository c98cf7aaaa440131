/** `kinora wallet`. */
import { type AdminDeposit, type AdminPayment, amountCentsMax, type DepositRequest } from "@kinora/http-api/AdminWallet"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Connection from "../Connection.ts"
import type { Operator } from "../Operator.ts"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"
import { reference, referenceOf } from "./reference.ts"

/** Returns an amount such as `29` or `29.50` in cents, without the rounding of floating-point numbers. */
const centsOf = Effect.fnUntraced(function*(dollars: string) {
  const [, whole, fraction = ""] = /^(\d{1,8})(?:\.(\d{2}))?$/.exec(dollars) ?? []
  const cents = Number(whole) * 100 + Number(fraction)
  if (whole === undefined || cents < 1 || cents > amountCentsMax) {
    return yield* Connection.fail(
      `"${dollars}" is not an amount; use US dollars with or without cents, such as 29 or 29.50, up to ` +
        `${amountCentsMax / 100}.`
    )
  }
  return cents
})

const amount = {
  account,
  dollars: Argument.String("dollars").pipe(Argument.withDescription("US dollars, such as 29.50")),
  reference
}

/** Shows a deposit or a debit. */
const show = (title: "added" | "taken", booked: AdminDeposit) =>
  Output.show(
    booked,
    Output.properties([
      [title, Output.dollars(booked.usd_cents)],
      ["balance", Output.dollars(booked.balance_usd_cents)],
      ["time", Output.time(booked.created_at)],
      ["reference", booked.reference]
    ])
  )

/** A command that books an amount and shows the booking. */
const booking = <E, R>(
  name: string,
  description: string,
  title: "added" | "taken",
  run: (
    operator: Operator,
    request: { readonly params: { readonly id: string }; readonly payload: DepositRequest }
  ) => Effect.Effect<AdminDeposit, E, R>
) =>
  operatorCommand(
    name,
    description,
    amount,
    Effect.fnUntraced(function*(operator, { account, dollars, reference }) {
      const cents = yield* centsOf(dollars)
      const booked = yield* run(operator, {
        params: { id: yield* idOf(operator, account) },
        payload: { reference: yield* referenceOf(reference), usd_cents: cents }
      })
      yield* show(title, booked)
    })
  )

const deposit = booking(
  "deposit",
  "Add to the balance, from which plans are paid",
  "added",
  ({ wallet }, request) => wallet.deposit(request)
)

const debit = booking(
  "debit",
  "Take from the balance, which is never negative",
  "taken",
  ({ wallet }, request) => wallet.debit(request)
)

const list = operatorCommand(
  "list",
  "List deposits, debits and payments, newest first",
  { account, ...page("changes") },
  Effect.fnUntraced(function*(operator, { account, cursor, limit }) {
    const page = yield* operator.wallet.listMovements({
      params: { id: yield* idOf(operator, account) },
      query: pageQuery({ cursor, limit })
    })
    yield* showList(page, [
      { title: "TIME", value: (movement) => Output.time(movement.created_at) },
      { title: "KIND", value: ({ kind }) => kind },
      { title: "AMOUNT", value: (movement) => Output.dollars(movement.usd_cents), isNumber: true },
      { title: "BALANCE", value: (movement) => Output.dollars(movement.balance_usd_cents), isNumber: true },
      { title: "REFERENCE", value: ({ reference }) => reference }
    ], "The balance has not changed yet.")
  })
)

const returnUrl = (name: string, when: string) =>
  Flag.String(name).pipe(Flag.withDescription(`URL to which the customer returns ${when}`))

const checkout = operatorCommand(
  "checkout",
  "Open a page of the payment provider, on which the customer pays for the balance",
  {
    account,
    dollars: amount.dollars,
    successUrl: returnUrl("success-url", "after the payment"),
    cancelUrl: returnUrl("cancel-url", "without a payment")
  },
  Effect.fnUntraced(function*(operator, { account, cancelUrl, dollars, successUrl }) {
    const cents = yield* centsOf(dollars)
    const checkout = yield* operator.wallet.openCheckout({
      params: { id: yield* idOf(operator, account) },
      payload: { amount_usd_cents: cents, success_url: successUrl, cancel_url: cancelUrl }
    })
    yield* Output.show(
      checkout,
      Output.properties([
        ["url", checkout.url],
        ["amount", Output.dollars(checkout.amount_usd_cents)],
        ["expires", Output.time(checkout.expires_at)],
        ["payment", checkout.id]
      ])
    )
  })
)

const checkouts = operatorCommand(
  "checkouts",
  "List the payments by checkouts, newest first",
  { account, ...page("payments") },
  Effect.fnUntraced(function*(operator, { account, cursor, limit }) {
    const page = yield* operator.wallet.listCheckouts({
      params: { id: yield* idOf(operator, account) },
      query: pageQuery({ cursor, limit })
    })
    yield* showList(page, [
      { title: "TIME", value: (payment) => Output.time(payment.created_at) },
      { title: "PAYMENT", value: ({ id }) => id },
      { title: "AMOUNT", value: (payment) => Output.dollars(payment.amount_usd_cents), isNumber: true },
      { title: "STATUS", value: statusOf },
      { title: "REFERENCE", value: ({ provider_reference: reference }) => reference ?? "-" }
    ], "The account has no payments.")
  })
)

/** Returns the status of a payment. A paid one that is not credited needs a refund. */
const statusOf = ({ credited, status }: AdminPayment) => status === "paid" && !credited ? "paid, not credited" : status

/** Changes balances, and lists their changes. */
export const walletCommand = Command.make("wallet").pipe(
  Command.withDescription("Change balances, and list their changes"),
  Command.withSubcommands([deposit, debit, list, checkout, checkouts])
)
