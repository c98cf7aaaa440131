/** Reports the upstreams of a worker that fail, so that servers know the status of the models. */
import { DateTime, Duration, Effect, Option } from "effect"
import { type UpstreamReport, UpstreamReports } from "../../UpstreamReports.ts"
import * as Metrics from "../upstreamMetrics.ts"
import type { Upstreams } from "./upstreams.ts"

/** Options for `startReporter`. */
export interface ReporterOptions {
  /** Id of the worker's offer. */
  readonly worker: string
  /** How long a report holds without renewal. */
  readonly ttl: Duration.Duration
}

/**
 * Checks the upstreams every second while one of them fails, until the scope closes.
 * Writes a report when it changes and when a third of its time has passed, and deletes it
 * when the upstream works again or the worker stops. Does nothing while all upstreams work.
 */
export const startReporter = Effect.fnUntraced(
  function*({ all }: Pick<Upstreams, "all">, { ttl, worker }: ReporterOptions) {
    const reports = yield* UpstreamReports
    /** The reports in the database, by upstream. */
    const written = new Map<string, UpstreamReport>()

    const remove = Effect.fnUntraced(function*(upstreams: ReadonlyArray<string>) {
      if (upstreams.length === 0) return
      yield* reports.remove(worker, upstreams)
      for (const upstream of upstreams) {
        written.delete(upstream)
        yield* Metrics.paused(upstream, false)
      }
    })

    const round = Effect.gen(function*() {
      const now = yield* DateTime.now
      const current = yield* Effect.forEach(
        all,
        ({ name, trouble }) =>
          Effect.map(trouble, (trouble) =>
            Option.toArray(trouble).map(({ isPaused, retryAt }): UpstreamReport => ({
              worker,
              upstream: name,
              status: isPaused ? "paused" : "degraded",
              retryAt,
              until: DateTime.addDuration(now, ttl)
            })))
      ).pipe(Effect.map((found) => found.flat()))
      const failing = new Set(current.map(({ upstream }) => upstream))
      yield* remove(Array.from(written.keys()).filter((upstream) => !failing.has(upstream)))

      const changed = current.filter((report) => isChanged(written.get(report.upstream), report, ttl))
      if (changed.length === 0) return
      yield* reports.put(worker, changed, now)
      for (const report of changed) {
        written.set(report.upstream, report)
        yield* Metrics.paused(report.upstream, report.status === "paused")
      }
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Reporting the upstreams that fail did not succeed", cause))
    )

    const stop = Effect.suspend(() => remove(Array.from(written.keys()))).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Deleting the reports failed; they expire", cause))
    )
    const awaitTrouble = Effect.raceAll(all.map(({ awaitTrouble }) => awaitTrouble))
    // Does not wait while reports are written, since a later round deletes those that could not be deleted.
    const pause = Effect.suspend(() => written.size === 0 ? awaitTrouble : Effect.void)
    yield* Effect.andThen(pause, Effect.andThen(round, Effect.sleep(interval))).pipe(
      Effect.forever,
      Effect.ensuring(stop),
      Effect.forkScoped
    )
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Time between two checks of the upstreams, which are in memory. */
const interval = Duration.seconds(1)

const isChanged = (before: UpstreamReport | undefined, after: UpstreamReport, ttl: Duration.Duration): boolean =>
  before === undefined ||
  before.status !== after.status ||
  isApart(before.retryAt, after.retryAt, interval) ||
  isApart(before.until, after.until, Duration.divideUnsafe(ttl, 3))

/** The same time, calculated twice from the time that is left, differs slightly. */
const isApart = (before: DateTime.Utc, after: DateTime.Utc, least: Duration.Duration): boolean =>
  Math.abs(before.epochMilliseconds - after.epochMilliseconds) >= Duration.toMillis(least)
