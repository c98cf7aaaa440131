/** The part of the operator API that is about balances. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AdminCheckout,
  AdminDebit,
  AdminDeposit,
  AdminMovementList,
  AdminPaymentList,
  CheckoutRequest,
  DebitRequest,
  DepositRequest,
  MovementKind
} from "./AdminWallet.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { account, accountId } from "./internal/paths.ts"
import { PageSize } from "./Scalar.ts"

const checkouts = `${account}/wallet/checkouts` as const

/** `kind:reference` of the last change of a page. */
const MovementCursor = Schema.String.check(
  Schema.isPattern(new RegExp(`^(${MovementKind.literals.join("|")}):[\\x20-\\x7e]{1,128}$`), {
    expected: "the next_cursor of an earlier call"
  })
)

/** The id of the last payment of a page. */
const PaymentCursor = Schema.String.check(
  Schema.isPattern(/^pay_[0-7][0-9a-hjkmnp-tv-z]{25}$/, { expected: "the next_cursor of an earlier call" })
)

/** Changes balances, and lists their changes. */
export class AdminWallet extends HttpApiGroup.make("wallet").add(
  configure(
    "operator",
    "Add to the balance",
    "Adds the amount once per reference: responds with 201 the first time, and with 200 and the same deposit if the " +
      "request is repeated. A plan with `auto_renew` is paid from the balance at its `period_end`, and ends if the " +
      "balance is too low.",
    ["account_deleted", "not_found", "reference_reused"],
    (error) =>
      HttpApiEndpoint.post("deposit", `${account}/deposits`, {
        params: accountId,
        payload: DepositRequest,
        success: [AdminDeposit.pipe(HttpApiSchema.status(201)), AdminDeposit],
        error
      })
  ),
  configure(
    "operator",
    "Take from the balance",
    "Takes the amount once per reference: responds with 201 the first time, and with 200 and the same debit if the " +
      "request is repeated. The balance is never negative.",
    ["account_deleted", "insufficient_balance", "not_found", "reference_reused"],
    (error) =>
      HttpApiEndpoint.post("debit", `${account}/debits`, {
        params: accountId,
        payload: DebitRequest,
        success: [AdminDebit.pipe(HttpApiSchema.status(201)), AdminDebit],
        error
      })
  ),
  operate(
    "auditor",
    "List the changes of the balance",
    "Deposits, debits and payments of plans, newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["invalid_params", "not_found"],
    (error) =>
      HttpApiEndpoint.get("listMovements", `${account}/movements`, {
        params: accountId,
        query: { limit: Schema.optionalKey(PageSize), cursor: Schema.optionalKey(MovementCursor) },
        success: AdminMovementList,
        error
      })
  ),
  configure(
    "operator",
    "Open a checkout",
    "Opens a page of the payment provider on which the customer pays an amount, which is added to the balance. Every " +
      "request opens another checkout, which expires after 24 hours.",
    ["account_deleted", "not_found", "payment_rejected", "payments_disabled", "too_many_payments"],
    (error) =>
      HttpApiEndpoint.post("openCheckout", checkouts, {
        params: accountId,
        payload: CheckoutRequest,
        success: AdminCheckout.pipe(HttpApiSchema.status(201)),
        error
      })
  ),
  operate(
    "auditor",
    "List the payments of an account",
    "The payments by checkouts, newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["invalid_params", "not_found"],
    (error) =>
      HttpApiEndpoint.get("listCheckouts", checkouts, {
        params: accountId,
        query: { limit: Schema.optionalKey(PageSize), cursor: Schema.optionalKey(PaymentCursor) },
        success: AdminPaymentList,
        error
      })
  )
).annotate(OpenApi.Description, "Change the balance that pays for plans, and list its changes.") {}
