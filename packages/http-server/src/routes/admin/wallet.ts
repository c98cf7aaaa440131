/** Balances in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import type { Movement, MovementName } from "@kinora/accounts/Wallet"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { AdminDeposit, type AdminMovement, MovementKind } from "@kinora/http-api/AdminWallet"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { changes, note } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "wallet",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts

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
          // A full page can be the last one, and is followed by an empty one then.
          next_cursor: last === undefined || page.length < limit ? null : `${last.kind}:${last.reference}`
        }
      })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

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
