/** `UpstreamReports` in memory. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import { type UpstreamReport, UpstreamReports } from "../../UpstreamReports.ts"

/** Keeps reports in the memory of this process. */
export const layer: Layer.Layer<UpstreamReports, never, MemoryBackend> = Layer.effect(
  UpstreamReports,
  Effect.map(MemoryBackend, ({ access, makeMap }) => {
    const reports = makeMap<string, UpstreamReport>()
    return UpstreamReports.of({
      put: (worker, added, now) =>
        access(() => {
          for (const report of reports.values()) {
            if (report.worker !== worker && !holds(report, now)) reports.delete(keyOf(report))
          }
          added.forEach((report) => reports.set(keyOf(report), report))
        }),
      remove: (worker, upstreams) =>
        access(() => upstreams.forEach((upstream) => reports.delete(keyOf({ worker, upstream })))),
      list: (now) => access(() => Array.from(reports.values()).filter((report) => holds(report, now)))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyOf = ({ upstream, worker }: Pick<UpstreamReport, "worker" | "upstream">): string =>
  JSON.stringify([worker, upstream])

const holds = ({ until }: UpstreamReport, now: DateTime.Utc): boolean => DateTime.isGreaterThan(until, now)
