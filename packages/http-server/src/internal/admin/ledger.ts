/** Lots, bookings and verification for operators. */
import { Accounts } from "@kinora/accounts"
import { GenerationStore } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { conflict } from "@kinora/http-api/AdminError"
import { AdminLot, type GrantLotRequest } from "@kinora/http-api/AdminLedger"
import { Ledger } from "@kinora/ledger"
import type { Lot } from "@kinora/ledger/Lot"
import type { Transaction } from "@kinora/ledger/Transaction"
import { DateTime, Effect, Schema, Semaphore } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Refusals from "./refusals.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "ledger",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const generations = yield* GenerationStore.GenerationStore
    const ledger = yield* Ledger.Ledger
    // One at a time: verifying reads whole books, which is work for the database that others need.
    const verifying = yield* Semaphore.make(1)

    return handlers
      .handle(
        "grantLot",
        Effect.fnUntraced(
          function*({ params, payload }) {
            const { id } = yield* accounts.get(yield* Refusals.accountIdOf(params.id))
            const { _tag, lot } = yield* ledger.grant({
              account: id,
              reference: payload.reference,
              kind: payload.kind,
              credits: payload.credits,
              expiresAt: payload.expires_at,
              imagesOnly: payload.images_only,
              watermark: isMarked(payload),
              at: yield* DateTime.now
            }).pipe(Effect.catchTag("LedgerError", () => Refusals.invalid("expires_at", "must be in the future")))
            if (_tag === "AlreadyGranted" && !isSame(lot, payload)) {
              return yield* Effect.fail(conflict("reference_reused"))
            }
            if (_tag === "Granted") {
              yield* Effect.logInfo("An operator granted credits", { account: id, lot: lot.id, credits: lot.granted })
            }
            return HttpServerResponse.jsonUnsafe(encodeLot(lotOf(lot, payload.reference)), {
              status: _tag === "Granted" ? 201 : 200
            })
          },
          Refusals.answer("AccountNotFound")
        )
      )
      .handle(
        "listBookings",
        Effect.fnUntraced(
          function*({ params }) {
            const id = GenerationId.parse(params.id)
            const [generation] = id === undefined ? [] : yield* generations.find([id])
            if (generation === undefined) return yield* Refusals.notFound
            const transactions = yield* ledger.entries({ account: generation.account, reference: generation.id })
            return { data: transactions.toReversed().map(transactionOf) }
          },
          Refusals.answer()
        )
      )
      .handle(
        "verifyLedger",
        Effect.fnUntraced(
          function*({ query: { account, cursor, limit = accountsMax } }) {
            if (account !== undefined) yield* accounts.get(yield* Refusals.accountIdOf(account))
            const { next, ...found } = yield* verifying.withPermit(
              ledger.verify({ account, after: cursor, accountsMax: limit })
            )
            return { ...found, next_cursor: next ?? null }
          },
          Refusals.answer("AccountNotFound")
        )
      )
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Accounts that one call verifies when it says nothing. */
const accountsMax = 1_000

/** Trial lots carry a watermark, and no others (interface, CreditLot). */
const isMarked = ({ kind }: GrantLotRequest): boolean => kind === "trial"

/** Whether the request asks for what the lot was opened with. */
const isSame = (lot: Lot, request: GrantLotRequest): boolean =>
  lot.kind === request.kind &&
  lot.granted === request.credits &&
  lot.imagesOnly === (request.images_only ?? false) &&
  DateTime.Equivalence(lot.expiresAt, request.expires_at)

const encodeLot = Schema.encodeSync(AdminLot)

const lotOf = (lot: Lot, reference: string): AdminLot => ({
  id: lot.id,
  reference,
  kind: lot.kind,
  credits: lot.granted,
  remaining: lot.remaining,
  images_only: lot.imagesOnly,
  watermark: lot.watermark,
  expires_at: lot.expiresAt,
  created_at: lot.openedAt
})

const transactionOf = ({ account, amount, at, entries, id, kind, reference, reverses }: Transaction) => ({
  id,
  account,
  kind,
  reference,
  created_at: at,
  amount,
  reverses: reverses ?? null,
  entries
})
