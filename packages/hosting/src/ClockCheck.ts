/**
 * Compares the clock of this host with the database's, at the start and while the process runs.
 *
 * Leases and other times in the database do not depend on the clocks of hosts
 * (`DatabaseTime` of `@kinora/persistence`). The times that a host shows and signs do: dates in
 * responses, the expiry of signed URLs, the timestamps of webhooks, and the order of ids.
 */
import { DatabaseTime } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Data, Duration, Effect, Layer, Metric } from "effect"
import type { SqlClient } from "effect/sql"

/** Options for `ClockCheck.layer`. */
export interface ClockCheckOptions {
  /** Skew with which the process does not start. Default 2 seconds. */
  readonly skewMax?: Duration.Input | undefined
  /** Skew that is logged as a warning. Default 0.5 seconds. */
  readonly skewWarned?: Duration.Input | undefined
  /** Time between two measurements. Default 1 minute. */
  readonly interval?: Duration.Input | undefined
}

/** The clock of this host differs too much from the database's. Stops the start. */
export class ClockSkewed extends Data.TaggedError("ClockSkewed")<{
  readonly aheadMillis: number
  readonly maxMillis: number
}> {
  override get message(): string {
    const direction = this.aheadMillis > 0 ? "ahead of" : "behind"
    return `The clock of this host is ${
      seconds(Math.abs(this.aheadMillis))
    } s ${direction} the clock of the database, ` +
      `and ${seconds(this.maxMillis)} s is the maximum. Synchronize both clocks, for example with NTP`
  }
}

/**
 * Measures the skew while the layer is built, fails with `ClockSkewed` if it is above `skewMax`,
 * and measures again at the interval. Later skews are logged when they begin and when they end.
 * The metric `kinora_clock_skew_seconds` has the last one. If a measurement fails, it is
 * skipped. A measurement is uncertain by half of its round trip, which is subtracted.
 */
export const layer = (options: ClockCheckOptions = {}): Layer.Layer<never, ClockSkewed, SqlClient.SqlClient> =>
  layerWith(DatabaseTime.measureSkew(), options)

/** `layer` with another way to measure the skew. */
export const layerWith = <R>(
  measure: Effect.Effect<DatabaseTime.ClockSkew, StorageError, R>,
  { interval = "1 minute", skewMax = "2 seconds", skewWarned = "500 millis" }: ClockCheckOptions = {}
): Layer.Layer<never, ClockSkewed, R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const maxMillis = Duration.toMillis(skewMax)
    let isWarned = false

    /** Measures and logs. Returns the skew, or `undefined` if it could not be measured. */
    const check = Effect.gen(function*() {
      const { aheadMillis, roundTripMillis } = yield* measure
      yield* Metric.update(skew, aheadMillis / 1000)
      const certain = Math.max(0, Math.abs(aheadMillis) - roundTripMillis / 2)
      const isSkewed = certain > Duration.toMillis(skewWarned)
      if (isSkewed && !isWarned) {
        yield* Effect.logWarning("The clocks of this host and the database differ", {
          aheadSeconds: aheadMillis / 1000
        })
      }
      if (!isSkewed && isWarned) yield* Effect.logInfo("The clocks of this host and the database agree again")
      isWarned = isSkewed
      return { aheadMillis, isTooSkewed: certain > maxMillis }
    }).pipe(
      Effect.catch((error) => Effect.as(Effect.logWarning("Comparing the clocks failed", error), undefined))
    )

    const first = yield* check
    if (first?.isTooSkewed === true) return yield* new ClockSkewed({ aheadMillis: first.aheadMillis, maxMillis })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(interval), check)))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const skew = Metric.gauge("kinora_clock_skew_seconds", {
  description: "How far the clock of this host is ahead of the database's; negative if it is behind."
})

const seconds = (millis: number) => (millis / 1000).toFixed(1)
