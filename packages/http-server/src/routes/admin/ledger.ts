/** Credits, bookings and verification in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { CreditLots, GenerationStore } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { type AdminBalances, AdminLot, type GrantLotRequest } from "@kinora/http-api/AdminLedger"
import { refuse } from "@kinora/http-api/ApiError"
import { Ledger } from "@kinora/ledger"
import { type Lot, LotId } from "@kinora/ledger/Lot"
import { type Transaction, TransactionId } from "@kinora/ledger/Transaction"
import { DateTime, Effect, Schema, Semaphore } from "effect"
import { HttpServerResponse } from "effect/http"
import { changes, note } from "../../middleware/changes.ts"
import { untimed } from "../../middleware/currentRequest.ts"
import { answers, invalidParameter, parseId } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers that read the books of many accounts. */
const wholeBooks = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  // One at a time each, because they read whole books from a database that serves requests too.
  const verifying = yield* Semaphore.make(1)
  const summing = yield* Semaphore.make(1)

  return {
    verifyLedger: answers(
      ["AccountNotFound"],
      function*({ query: { account, cursor, limit = accountsMax } }: { readonly query: VerifyQuery }) {
        if (account !== undefined) yield* accounts.get(yield* parseId(Account.AccountId.parse, account))
        const { next, ...found } = yield* untimed(
          verifying.withPermit(ledger.verify({ account, after: cursor, accountsMax: limit }))
        )
        return { ...found, next_cursor: next ?? null }
      }
    ),

    getTrialBalance: answers([], function*() {
      const { lines, ...found } = yield* summing.withPermit(ledger.trialBalance)
      return { ...found, data: lines }
    })
  }
})

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "ledger", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const generations = yield* GenerationStore.GenerationStore
  const ledger = yield* Ledger.Ledger
  const readStatement = yield* makeReadStatement

  return handlers.handleAll({
    grantLot: changes(["AccountNotFound", "GrantExpired"], function*({ params, payload }) {
      const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      const { _tag, lot } = yield* ledger.grant({
        account: id,
        reference: payload.reference,
        kind: payload.kind,
        credits: payload.credits,
        expiresAt: payload.expires_at,
        purpose: payload.images_only === true ? CreditLots.imagePurpose : undefined,
        labels: labelsOf(payload),
        at: yield* DateTime.now
      })
      if (_tag === "AlreadyGranted" && !isSame(lot, payload)) return yield* refuse("reference_reused")
      yield* note({ after: { lot: lot.id, reference: payload.reference, kind: lot.kind, credits: lot.granted } })
      if (_tag === "Granted") {
        yield* Effect.logInfo("An operator granted credits", { account: id, lot: lot.id, credits: lot.granted })
      }
      return HttpServerResponse.jsonUnsafe(encodeLot(lotOf(lot, payload.reference)), {
        status: _tag === "Granted" ? 201 : 200
      })
    }),

    revokeLot: changes(["AccountNotFound", "UnknownLot"], function*({ params }) {
      const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      const lot = yield* parseId(LotId.parse, params.lot_id)
      const { credits } = yield* ledger.revoke({ account: id, lot, at: yield* DateTime.now })
      yield* note({ after: { account: id, credits } })
      yield* Effect.logInfo("An operator revoked credits", { account: id, lot, credits })
      return { lot, credits }
    }),

    getBalances: answers(["AccountNotFound"], function*({ params }) {
      const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      return balancesOf(yield* ledger.balances(id, yield* DateTime.now))
    }),

    listTransactions: answers(["AccountNotFound"], function*({ params, query }) {
      const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
      return yield* readStatement(id, query)
    }),

    listBookings: answers([], function*({ params }) {
      const id = yield* parseId(GenerationId.parse, params.id)
      const [generation] = yield* generations.find([id])
      if (generation === undefined) return yield* refuse("not_found")
      const transactions = yield* ledger.entries({ account: generation.account, reference: generation.id })
      return { data: transactions.toReversed().map(transactionOf) }
    }),

    ...(yield* wholeBooks)
  })
})

/** Makes the function that reads a page of the transactions of an account. */
export const makeReadStatement = Effect.map(
  Ledger.Ledger,
  (ledger) =>
    Effect.fnUntraced(function*(account: string, { cursor, limit = bookingsMax }: StatementQuery) {
      const before = cursor === undefined ? undefined : TransactionId.parse(cursor)
      if (cursor !== undefined && before === undefined) return yield* invalidCursor
      const page = yield* ledger.entries({ account, before, limit })
      // A full page can be the last one. If so, an empty one follows.
      return { data: page.map(transactionOf), next_cursor: page.length < limit ? null : page.at(-1)!.id }
    })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const balancesOf = ({ credits, creditsByPurpose, lots, quotaUsed, resetsAt }: Ledger.Balances): AdminBalances => ({
  credits,
  credits_images_only: creditsByPurpose.get(CreditLots.imagePurpose) ?? 0,
  lots: lots.map((lot) => ({
    id: lot.id,
    kind: CreditLots.kindOf(lot),
    credits: lot.granted,
    remaining: lot.remaining,
    images_only: CreditLots.isForImages(lot),
    expires_at: lot.expiresAt,
    created_at: lot.openedAt
  })),
  quota_used: { images: quotaUsed.get("image") ?? 0, videos: quotaUsed.get("video") ?? 0 },
  resets_at: resetsAt
})

/** The accounts to verify. */
interface VerifyQuery {
  readonly account?: string
  readonly cursor?: string
  readonly limit?: number
}

/** How many accounts a call verifies by default. */
const accountsMax = 1_000

/** Trial credits have a watermark. See docs/reference/http-api.md#credit-lots. */
const labelsOf = ({ kind }: GrantLotRequest): ReadonlyArray<string> =>
  kind === "trial" ? [CreditLots.watermarkLabel] : []

/** Whether the request repeats the one that opened the lot. */
const isSame = (lot: Lot, request: GrantLotRequest): boolean =>
  lot.kind === request.kind &&
  lot.granted === request.credits &&
  CreditLots.isForImages(lot) === (request.images_only ?? false) &&
  DateTime.Equivalence(lot.expiresAt, request.expires_at)

const encodeLot = Schema.encodeSync(AdminLot)

const lotOf = (lot: Lot, reference: string): AdminLot => ({
  id: lot.id,
  reference,
  kind: CreditLots.kindOf(lot),
  credits: lot.granted,
  remaining: lot.remaining,
  images_only: CreditLots.isForImages(lot),
  watermark: CreditLots.hasWatermark(lot.labels),
  expires_at: lot.expiresAt,
  created_at: lot.openedAt
})

/** The page of a statement. */
interface StatementQuery {
  readonly cursor?: string
  readonly limit?: number
}

/** How many bookings a page has by default. */
const bookingsMax = 100

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")

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
