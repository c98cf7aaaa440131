/** Stores payments in the memory of the process, for tests and for hosts that keep nothing. */
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import type { Payment, PaymentId } from "./Payment.ts"
import { pauseMinutes, PaymentStore } from "./PaymentStore.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<PaymentStore, never, UnitOfWork.MemoryBackend> = Layer.effect(
  PaymentStore,
  Effect.map(UnitOfWork.MemoryBackend, ({ access, makeMap }) => {
    const rows = makeMap<PaymentId, Row>()
    const find = (id: PaymentId) => access(() => Option.fromUndefinedOr(rows.get(id)?.payment))
    const change = (id: PaymentId, change: (payment: Payment) => Payment) =>
      access(() => {
        const row = rows.get(id)
        if (row !== undefined) rows.set(id, { ...row, payment: change(row.payment) })
      })
    const payments = () => Array.from(rows.values(), ({ payment }) => payment)

    return PaymentStore.of({
      // The memory backend runs one unit at a time, so no lock is needed.
      lockAccount: () => Effect.void,
      countOpen: (account) =>
        access(() => payments().filter((payment) => payment.account === account && payment.status === "open").length),
      insert: (payment) =>
        Effect.flatMap(DatabaseTime.inMemory, (now) =>
          access(() => {
            rows.set(payment.id, { payment, dueAt: DateTime.add(now, { minutes: pauseMinutes.first }), looks: 0 })
          })),
      find,
      lock: find,
      saveCheckout: (id, { expiresAt, reference }) =>
        change(id, (payment) => ({
          ...payment,
          providerReference: Option.some(reference),
          expiresAt: Option.some(expiresAt)
        })),
      settle: (id, { settledAt, ...settlement }) =>
        change(id, (payment) => ({ ...payment, ...settlement, settledAt: Option.some(settledAt) })),
      list: ({ account, after, limit }) =>
        access(() =>
          payments()
            .filter((payment) => payment.account === account && (after === undefined || payment.id < after))
            .toSorted((a, b) => a.id < b.id ? 1 : -1)
            .slice(0, limit)
        ),
      claimDue: ({ limit, provider }) =>
        Effect.flatMap(DatabaseTime.inMemory, (now) =>
          access(() => {
            const due = Array.from(rows.values())
              .filter(({ dueAt, payment }) =>
                payment.status === "open" && payment.provider === provider && DateTime.isLessThanOrEqualTo(dueAt, now)
              )
              .toSorted((a, b) => DateTime.Order(a.dueAt, b.dueAt))
              .slice(0, limit)
            for (const { looks, payment } of due) {
              const minutes = Math.min(pauseMinutes.first * 2 ** looks, pauseMinutes.max)
              rows.set(payment.id, { payment, looks: looks + 1, dueAt: DateTime.add(now, { minutes }) })
            }
            return due.map(({ payment }) => payment)
          })),
      deleteSettled: (before, limit) =>
        access(() => {
          const old = payments()
            .filter(({ settledAt }) => Option.exists(settledAt, (at) => DateTime.isLessThan(at, before)))
            .toSorted((a, b) => Option.makeOrder(DateTime.Order)(a.settledAt, b.settledAt))
            .slice(0, limit)
          for (const { id } of old) rows.delete(id)
          return old.length
        })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Row {
  readonly payment: Payment
  readonly dueAt: DateTime.Utc
  /** How often the payment was due. */
  readonly looks: number
}
