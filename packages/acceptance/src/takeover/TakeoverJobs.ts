/** The jobs of the takeover drill, and the lines that its workers print. Separate, because each worker loads it. */
import { JobKind } from "@kinora/scheduler"
import { Clock, Duration, Effect, Schema } from "effect"

/** The line that a worker prints when a run starts, and when it ends. `at` is a time of `now`. */
export const RunLine = Schema.fromJsonString(
  Schema.Struct({ job: Schema.String, event: Schema.Literals(["started", "ended"]), at: Schema.Number })
)

/** The monotonic clock in milliseconds. Processes of one machine have the same one. */
export const now: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** The lease of the workers, which is the default. */
export const lease = Duration.seconds(8)

/** The kind of the jobs of a group, which only the workers of the group claim. */
export const kindOf = (group: string) => JobKind.make({ name: `takeover-${group}`, payload: Schema.Struct({}) })
