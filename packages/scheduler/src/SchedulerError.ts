/** The refusals of the scheduler. Calls for one command fail with `SchedulerError`; sets return refusals in results. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import * as Reasons from "./internal/reasons.ts"

/**
 * The reasons of refusals. `match` and `matchOrElse` handle them by tag, and `cases` has the class of each, for tests:
 *
 *     new SchedulerError({ reason: new SchedulerErrorReason.cases.NotFound({ job }) })
 */
export const SchedulerErrorReason = Schema.Union([
  Reasons.QueueFull,
  Reasons.DuplicateJob,
  Reasons.InvalidJobId,
  Reasons.InvalidPriority,
  Reasons.NotFound,
  Reasons.AlreadyRunning,
  Reasons.LeaseLost
]).pipe(Schema.toTaggedUnion("_tag"))
/** Reason of a `SchedulerError`. `Types.ExtractTag<SchedulerErrorReason, "QueueFull">` of Effect is one of them. */
export type SchedulerErrorReason = typeof SchedulerErrorReason.Type

/** The scheduler refused a command. `reason` is the broken rule. */
export class SchedulerError extends Rejection.define<SchedulerError>("@kinora/scheduler/SchedulerError")(
  "SchedulerError",
  "The scheduler",
  SchedulerErrorReason
) {}
