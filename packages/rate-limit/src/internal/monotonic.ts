/** The monotonic clock of the host, which nobody sets. */
import type { Clock } from "effect"

/** Returns its time in milliseconds. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
