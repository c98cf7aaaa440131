/**
 * Stores in memory that fail as the `Faults` of a host define, like a database. Hosts share the
 * memory, and each has faults of its own.
 */
import { AccountStore } from "@kinora/accounts"
import { GenerationStore, ImageStore, ModelPauses, UpstreamReports } from "@kinora/generations"
import { IdempotencyStore } from "@kinora/idempotency"
import { LedgerStore } from "@kinora/ledger"
import { OperatorStore } from "@kinora/operators"
import { PaymentStore } from "@kinora/payments"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { RateLimitStore } from "@kinora/rate-limit"
import { SchedulerStore } from "@kinora/scheduler"
import { SessionStore } from "@kinora/sessions"
import * as Faults from "@kinora/testkit/Faults"
import { WebhookStore } from "@kinora/webhooks"
import { Context, Effect, Layer } from "effect"

/** The surrounding stores and their unit of work, with faults. */
export const layer = (faults: Faults.Faults) =>
  Layer.mergeAll(
    storeLayer(AccountStore.AccountStore, faults),
    storeLayer(GenerationStore.GenerationStore, faults),
    storeLayer(IdempotencyStore.IdempotencyStore, faults),
    storeLayer(ImageStore.ImageStore, faults),
    storeLayer(LedgerStore.LedgerStore, faults),
    storeLayer(ModelPauses.ModelPauses, faults),
    storeLayer(OperatorStore.OperatorStore, faults),
    storeLayer(PaymentStore.PaymentStore, faults),
    storeLayer(RateLimitStore.RateLimitStore, faults),
    storeLayer(SchedulerStore.SchedulerStore, faults),
    storeLayer(SessionStore.SessionStore, faults),
    storeLayer(UpstreamReports.UpstreamReports, faults),
    storeLayer(WebhookStore.WebhookStore, faults),
    Layer.effect(UnitOfWork.UnitOfWork, Effect.map(UnitOfWork.UnitOfWork, (unit) => faultyUnits(unit, faults)))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const storeLayer = <Id, Store extends object>(tag: Context.Service<Id, Store>, faults: Faults.Faults) =>
  Layer.effect(tag, Effect.map(tag, (store) => faultyStore(store, faults)))

/** Every effect of a store is a statement. All of them can fail with a `StorageError`. */
const faultyStore = <Store extends object>(store: Store, faults: Faults.Faults): Store => {
  const around = (name: string, result: unknown) =>
    Effect.isEffect(result)
      ? Effect.suspend(() =>
        Faults.around(faults.next({ place: "statement", isWrite: !reads.test(name) }), result, { failureOf })
      )
      : result
  return new Proxy(store, {
    get: (target, property) => {
      const member: unknown = Reflect.get(target, property)
      if (typeof property === "symbol") return member
      if (typeof member !== "function") return around(property, member)
      return (...inputs: ReadonlyArray<unknown>) => around(property, Reflect.apply(member, target, inputs))
    }
  })
}

/** Names of the methods of stores that do not write. */
const reads =
  /^(audit|due|expired|find|get|groupsAfter|is|lanes|list|load|offers|queues|search|usage|verify|waiting|workers)/

/** Whether the response to the commit of the open unit is lost. If so, its callbacks do not run. */
const CurrentCommit = Context.Reference<{ isLost: boolean } | undefined>(
  "@kinora/acceptance/stories/FaultyMemory/CurrentCommit",
  { defaultValue: () => undefined }
)

/** Reruns of a unit after a conflict, as with a database. */
const rerunsMax = 5

const faultyUnits = (unit: UnitOfWork.UnitOfWork["Service"], faults: Faults.Faults) => {
  const begin = <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    reruns: number
  ): Effect.Effect<A, E | StorageError.StorageError, R> => {
    const commit = { isLost: false }
    const body = Effect.flatMap(effect, (value) =>
      Effect.suspend(() => {
        const fault = faults.next({ place: "commit", isWrite: true })
        commit.isLost = fault?.kind === "lostAfter"
        return commit.isLost ? Effect.succeed(value) : Faults.around(fault, Effect.succeed(value), { failureOf })
      }))
    return unit.atomically(Effect.provideService(body, CurrentCommit, commit)).pipe(
      Effect.flatMap((value) => commit.isLost ? Effect.fail(failureOf("lostAfter")) : Effect.succeed(value)),
      Effect.catchIf(
        (error) => error instanceof StorageError.StorageError && error.reason === "conflict" && reruns > 0,
        () => begin(effect, reruns - 1)
      )
    ) as Effect.Effect<A, E | StorageError.StorageError, R>
  }

  return UnitOfWork.UnitOfWork.of({
    // The type excludes the errors of a driver, which memory does not have.
    atomically: (effect) =>
      Effect.flatMap(unit.isOpen, (isOpen) => isOpen ? unit.atomically(effect) : begin(effect, rerunsMax)) as never,
    afterCommit: (effect) =>
      Effect.withFiber((fiber) => {
        const commit = fiber.getRef(CurrentCommit)
        return unit.afterCommit(Effect.suspend(() => commit?.isLost === true ? Effect.void : effect))
      }),
    isOpen: unit.isOpen
  })
}

const failureOf = (kind: Faults.Failure) =>
  new StorageError.StorageError({
    operation: "FaultyMemory",
    reason: kind === "conflict" ? "conflict" : "unavailable",
    cause: new Error(`A planned fault: ${kind}`)
  })
