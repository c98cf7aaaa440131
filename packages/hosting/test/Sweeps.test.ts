import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AccountDeletion, Checkouts, GenerationSweep, PlanRenewal } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { AuditLog } from "@kinora/operators"
import { Payments } from "@kinora/payments"
import { Sweep } from "@kinora/persistence"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Sessions } from "@kinora/sessions"
import { Webhooks } from "@kinora/webhooks"
import { Duration, Effect, Layer } from "effect"
import * as Work from "../src/Work.ts"

const dies = () => Effect.die("A sweep ran")

/** Services whose calls die. A sweep that pauses makes none. */
const services = Layer.mergeAll(
  Layer.mock(Accounts.Accounts)({
    spending: { load: dies, save: dies, check: dies, budgetOf: dies, usedBy: dies, deleteOld: dies }
  }),
  Layer.mock(AuditLog.AuditLog)({}),
  Layer.mock(AccountDeletion.AccountDeletion)({}),
  Layer.mock(Checkouts.Checkouts)({}),
  Layer.mock(Payments.Payments)({}),
  Layer.mock(PlanRenewal.PlanRenewal)({}),
  Layer.mock(GenerationSweep.GenerationSweep)({}),
  Layer.mock(Ledger.Ledger)({ setMax: 1_000 }),
  Layer.mock(Sessions.Sessions)({}),
  Layer.mock(Webhooks.Webhooks)({}),
  Layer.mock(Idempotency.Idempotency)({}),
  Layer.mock(RateLimit.RateLimit)({}),
  Layer.mock(Places.Places)({}),
  Layer.mock(Budget.Budget)({})
)

it.effect("sweeps at these intervals", () =>
  Effect.gen(function*() {
    const intervals: Array<number> = []
    yield* Layer.build(Work.layerSweeps()).pipe(
      Effect.provide(services),
      Effect.provideService(Sweep.Pause, (interval) =>
        Effect.andThen(
          Effect.sync(() => intervals.push(Duration.toSeconds(interval))),
          Effect.never
        ))
    )
    yield* Effect.yieldNow
    // Slots; renewals; payments; jobs (2), files (2), deliveries, secrets, failing endpoints, claims, lots, sessions, minutes, leases; days, old jobs, old usage, revoked keys, spending of keys, audit entries, deleted accounts, old payments.
    const hourly = Array(8).fill(3_600)
    assert.deepStrictEqual(intervals.toSorted((a, b) => a - b), [3, 20, 60, 60, 60, ...Array(10).fill(300), ...hourly])
  }).pipe(Effect.scoped))
