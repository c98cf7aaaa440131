/** The schedule of sends. */
import { Duration } from "effect"

/** Pauses between the end of a failed send and the next send. A delivery has one send more than the schedule has pauses. */
export type Schedule = ReadonlyArray<Duration.Duration>

/** Four sends: immediately, then 10, 60 and 300 seconds after the previous send failed. */
export const defaultSchedule: Schedule = [Duration.seconds(10), Duration.seconds(60), Duration.seconds(300)]
