/** Short pauses in which work for the database gathers. */
import { Clock, Duration, Effect } from "effect"

/** In real time: how busy the database is does not depend on a test's clock. */
export const pause = (duration: Duration.Duration): Effect.Effect<void> =>
  Duration.isZero(duration)
    ? Effect.void
    : Effect.provideService(Effect.sleep(duration), Clock.Clock, Clock.Clock.defaultValue())
