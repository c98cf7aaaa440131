/** The methods of the store that workers and sweeps call. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { mapSql } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Claim, type Claimed, DeliveryId } from "../../Delivery.ts"
import type { Settlement, WebhookStore } from "../../WebhookStore.ts"
import * as ClaimStatements from "./claim.ts"
import { selectDue } from "./due.ts"
import * as ForgetStatements from "./forget.ts"
import * as WebhookRows from "./rows.ts"
import * as SettlementStatements from "./settlement.ts"
import * as SweepStatements from "./sweep.ts"
import { withoutUnit } from "./withoutUnit.ts"

type Sql = SqlClient.SqlClient

/** The methods of the store that workers and sweeps call. */
export const methods = (sql: Sql, unitOfWork: UnitOfWork["Service"]) => ({
  due: (now, limit, after) =>
    DatabaseTime.hostClock.pipe(
      Effect.flatMap((clock) => dueRows(selectDue(sql, clock, now, limit, after))),
      Effect.map(WebhookRows.toDueList),
      mapSql("WebhookStore.due")
    ),
  claim: (demands, now, until, bytesMax = Number.MAX_SAFE_INTEGER) =>
    DatabaseTime.hostClock.pipe(
      Effect.zip(Pipelining.begun(sql)),
      Effect.flatMap(([clock, begun]) => ClaimStatements.claim(sql, clock, { demands, now, until, bytesMax }, begun)),
      Effect.flatMap(decodeClaimed),
      Effect.tap((decoded) => endUnusable(sql, unitOfWork, decoded, until)),
      Effect.map(({ claimed }) => claimed),
      mapSql("WebhookStore.claim"),
      (claim) => withoutUnit(unitOfWork, "WebhookStore.claim", claim)
    ),
  freeze: (bodies) => Pipelining.write(sql, ClaimStatements.freeze(sql, bodies)).pipe(mapSql("WebhookStore.freeze")),
  settle: (settlements) => settle(sql, settlements).pipe(mapSql("WebhookStore.settle")),
  release: (claims, at) => Effect.asVoid(release(sql, claims, at)).pipe(mapSql("WebhookStore.release")),
  expire: (before, now, limit) =>
    DatabaseTime.hostClock.pipe(
      Effect.flatMap((clock) => SweepStatements.expire(sql, clock, before, now, limit)),
      Effect.map(countOf),
      mapSql("WebhookStore.expire")
    ),
  sweep: (before, limit) =>
    SweepStatements.sweep(sql, before, limit).pipe(unitOfWork.atomically, mapSql("WebhookStore.sweep")),
  forget: (account, limit) =>
    ForgetStatements.forget(sql, account, limit).pipe(unitOfWork.atomically, mapSql("WebhookStore.forget")),
  trimSends: (kept, limit) =>
    SweepStatements.trimSends(sql, kept, limit).pipe(Effect.map(countOf), mapSql("WebhookStore.trimSends"))
} satisfies Partial<WebhookStore["Service"]>)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const dueRows = Rows.decodeAll(WebhookRows.DueRow)
const idRows = Rows.decodeAll(WebhookRows.IdRow)
const decodeClaim = Schema.decodeUnknownEffect(WebhookRows.ClaimRow)
const decodeRow = Schema.decodeUnknownResult(WebhookRows.ClaimedRow)

const countOf = (rows: ReadonlyArray<unknown>): number => rows.length

const settle = (sql: Sql, settlements: ReadonlyArray<Settlement>) =>
  Effect.map(
    Effect.flatMap(DatabaseTime.hostClock, (clock) => idRows(SettlementStatements.settle(sql, clock, settlements))),
    (rows) => rows.map(({ id }) => DeliveryId.fromUuid(id))
  )

const release = (sql: Sql, claims: ReadonlyArray<Claim>, at: DateTime.Utc) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) => ClaimStatements.release(sql, clock, claims, at))

/** The rows of a claim. */
interface Decoded {
  readonly claimed: ReadonlyArray<Claimed>
  readonly corrupt: ReadonlyArray<Claim>
  readonly withoutEvent: ReadonlyArray<Claim>
}

/** Decodes claimed rows one by one, so that a corrupt row does not stop the others. */
const decodeClaimed = Effect.fnUntraced(function*(rows: ReadonlyArray<unknown>) {
  const claimed: Array<Claimed> = []
  const corrupt: Array<Claim> = []
  const withoutEvent: Array<Claim> = []
  for (const row of rows) {
    const { claims, eventId, id } = yield* decodeClaim(row)
    const claim = { delivery: DeliveryId.fromUuid(id), claims }
    const decoded = decodeRow(row)
    if (Result.isSuccess(decoded)) claimed.push(WebhookRows.toClaimed(decoded.success))
    else (eventId === null ? withoutEvent : corrupt).push(claim)
  }
  return { claimed, corrupt, withoutEvent }
})

/**
 * Releases corrupt deliveries until `at`, and fails deliveries without their event. If that fails, a claim without a unit still
 * returns the others, which nobody else would send before their leases end. These become due at `at` too.
 */
const endUnusable = (sql: Sql, { isOpen }: UnitOfWork["Service"], decoded: Decoded, at: DateTime.Utc) =>
  decoded.corrupt.length + decoded.withoutEvent.length === 0
    ? Effect.void
    : Effect.flatMap(isOpen, (open) =>
      open ? endInTurn(sql, decoded, at) : Effect.catchCause(
        endInTurn(sql, decoded, at),
        (cause) =>
          Effect.logError("Failed to end webhook deliveries that cannot be sent, retrying when their leases end", cause)
      ))

const endInTurn = Effect.fnUntraced(function*(sql: Sql, { corrupt, withoutEvent }: Decoded, at: DateTime.Utc) {
  if (withoutEvent.length > 0) {
    yield* logError("Failed webhook deliveries whose events do not exist", withoutEvent)
    yield* settle(sql, withoutEvent.map((claim) => ({ ...claim, next: { _tag: "Failed" }, send: null })))
  }
  if (corrupt.length > 0) {
    yield* logError("Failed to decode webhook deliveries, retrying when their leases end", corrupt)
    yield* release(sql, corrupt, at)
  }
})

const logError = (message: string, claims: ReadonlyArray<Claim>) =>
  Effect.annotateLogs(Effect.logError(message), { deliveries: claims.map(({ delivery }) => delivery) })
