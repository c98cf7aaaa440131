/** The services that the sweeps of a host require. */
import { Accounts } from "@kinora/accounts"
import { AccountDeletion, Checkouts, GenerationSweep, PlanRenewal } from "@kinora/generations"
import { Idempotency } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { AuditLog } from "@kinora/operators"
import { Payments } from "@kinora/payments"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Sessions } from "@kinora/sessions"
import { Webhooks } from "@kinora/webhooks"
import { Effect, Layer } from "effect"

const dies = () => Effect.die("A sweep ran")

/** The services of `Work.layerSweeps`. Their calls die: a sweep that pauses makes none. */
export const sweptServices = Layer.mergeAll(
  Layer.mock(Accounts.Accounts)({
    spending: { load: dies, save: dies, check: dies, budgetOf: dies, usedBy: dies, deleteOld: dies }
  }),
  Layer.mock(AuditLog.AuditLog)({}),
  Layer.mock(AccountDeletion.AccountDeletion)({}),
  Layer.mock(Checkouts.Checkouts)({ isEnabled: false }),
  Layer.mock(Payments.Payments)({ isEnabled: false }),
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
