import { CronSchedule, JobKind } from "@kinora/scheduler"
import { DateTime, Schema } from "effect"

const Report = JobKind.make({ name: "report", payload: Schema.Struct({ until: Schema.String }) })

// At 03:00 in Berlin. A tick is skipped while the report before it has not ended.
const nightly = CronSchedule.make({
  name: "nightly-report",
  cron: "0 3 * * *",
  timeZone: "Europe/Berlin",
  lane: "reports",
  group: "reports",
  cap: 1,
  kind: Report,
  payload: (tick) => ({ until: DateTime.formatIso(tick) }),
  unique: { key: "nightly-report" }
})

/** Provide it with a scheduler, in any number of processes. */
export const schedulesLayer = CronSchedule.layer({ schedules: [nightly] })
