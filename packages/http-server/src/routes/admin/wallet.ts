/** Balances in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import type { Movement, MovementName } from "@kinora/accounts/Wallet"
import { Checkouts } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import {
  AdminDeposit,
  type AdminMovement,
  type AdminPayment,
  type CheckoutRequest,
  MovementKind
} from "@kinora/http-api/AdminWallet"
import { type Payment, PaymentId } from "@kinora/payments/Payment"
import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type ChangeRequest, changes, note } from "../../middleware/changes.ts"
import { untimed } from "../../middleware/currentRequest.ts"
import { answering, answers, parseId } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "wallet", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const checkouts = yield* Checkouts.Checkouts
  const reserve = makeReserve(checkouts)

  return handlers.handleAll({
    deposit: changes(["AccountDeleted", "AccountNotFound", "ReferenceReused"], function*({ params, payload }) {
      const { reference, usd_cents: cents } = payload
      const id = yield* parseId(Account.AccountId.parse, params.id)
      const { isNew, movement } = yield* accounts.deposit(id, { reference, cents })
      yield* note({ after: { reference, usd_cents: cents } })
      if (isNew) yield* Effect.logInfo("An operator added to a balance", { account: id, cents })
      return responseOf(movement, isNew)
    }),

    debit: changes(
      ["AccountDeleted", "AccountNotFound", "BalanceTooLow", "ReferenceReused"],
      function*({ params, payload }) {
        const { reference, usd_cents: cents } = payload
        const id = yield* parseId(Account.AccountId.parse, params.id)
        const { isNew, movement } = yield* accounts.debit(id, { reference, cents })
        yield* note({ after: { reference, usd_cents: cents } })
        if (isNew) yield* Effect.logInfo("An operator took from a balance", { account: id, cents })
        return responseOf({ ...movement, cents }, isNew)
      }
    ),

    listMovements: answers(["AccountNotFound"], function*({ params, query: { cursor, limit = pageSizeDefault } }) {
      const account = yield* parseId(Account.AccountId.parse, params.id)
      const before = cursor === undefined ? undefined : movementOf(cursor)
      const page = yield* accounts.listMovements({ account, before, limit })
      const last = page.at(-1)
      return {
        data: page.map(movementToWire),
        // A full page can be the last one. If so, an empty one follows.
        next_cursor: last === undefined || page.length < limit ? null : `${last.kind}:${last.reference}`
      }
    }),

    openCheckout: Effect.fnUntraced(function*(request) {
      const { cancel_url: cancelUrl, success_url: successUrl } = request.payload
      const reserved = yield* reserve(request)
      const { payment, url } = yield* checkouts.start(reserved, { cancelUrl, successUrl }).pipe(
        Effect.tapErrorTag("PaymentsError", (error) => Effect.logWarning(error.message, { payment: reserved.id })),
        // The provider has a time limit of its own.
        untimed,
        (opening) => answering(["PaymentsDisabled", "ProviderRejected", "ProviderUnavailable"], opening)
      )
      const { account, cents, id } = payment
      yield* Effect.logInfo("An operator opened a checkout", { account, payment: id, cents })
      return { ...paymentToWire(payment), url }
    }),

    listCheckouts: answers(["AccountNotFound"], function*({ params, query: { cursor, limit = pageSizeDefault } }) {
      const account = yield* parseId(Account.AccountId.parse, params.id)
      const after = cursor === undefined ? undefined : PaymentId.parse(cursor)
      const page = yield* checkouts.list({ account, after, limit })
      const last = page.at(-1)
      return {
        data: page.map(paymentToWire),
        // A full page can be the last one. If so, an empty one follows.
        next_cursor: last === undefined || page.length < limit ? null : last.id
      }
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

/** Records a payment with its entry in the audit log. The unit of work ends before the provider is called. */
const makeReserve = (checkouts: Checkouts.Checkouts["Service"]) =>
  changes(
    ["AccountDeleted", "AccountNotFound", "PaymentAmountInvalid", "PaymentsDisabled", "TooManyPayments"],
    function*(
      { params, payload: { amount_usd_cents: cents } }: ChangeRequest & {
        readonly params: { readonly id: string }
        readonly payload: CheckoutRequest
      }
    ) {
      const account = yield* parseId(Account.AccountId.parse, params.id)
      const payment = yield* checkouts.reserve(account, cents)
      yield* note({ after: { payment: payment.id, amount_usd_cents: cents } })
      return payment
    }
  )

const paymentToWire = (payment: Payment): AdminPayment => ({
  id: payment.id,
  status: payment.status,
  amount_usd_cents: payment.cents,
  credited: payment.isCredited,
  provider: payment.provider,
  provider_reference: Option.getOrNull(payment.providerReference),
  created_at: payment.createdAt,
  expires_at: Option.getOrNull(payment.expiresAt),
  settled_at: Option.getOrNull(payment.settledAt)
})

/** Returns the movement that a cursor names, which the schema has checked. */
const movementOf = (cursor: string): MovementName => {
  const kind = MovementKind.literals.find((kind) => cursor.startsWith(`${kind}:`)) ?? "deposit"
  return { kind, reference: cursor.slice(kind.length + 1) }
}

const movementToWire = (movement: Movement): AdminMovement => ({ kind: movement.kind, ...bookedOf(movement) })

/** Deposits and debits have the same properties. */
const encodeBooked = Schema.encodeSync(AdminDeposit)

const responseOf = (movement: Movement, isNew: boolean) =>
  HttpServerResponse.jsonUnsafe(encodeBooked(bookedOf(movement)), { status: isNew ? 201 : 200 })

const bookedOf = ({ at, balanceCents, cents, reference }: Movement): AdminDeposit => ({
  reference,
  usd_cents: cents,
  balance_usd_cents: balanceCents,
  created_at: at
})
