/** The refusals of the scheduler. Calls for one command fail with `SchedulerError`; sets return refusals in results. */
import * as Rejection from "@kinora/persistence/Rejection"
import { SchedulerErrorReason } from "./internal/reasons.ts"

export { SchedulerErrorReason }

/** The scheduler refused a command. `reason` is the broken rule. */
export class SchedulerError extends Rejection.define<SchedulerError>("@kinora/scheduler/SchedulerError")(
  "SchedulerError",
  "The scheduler",
  SchedulerErrorReason
) {}
