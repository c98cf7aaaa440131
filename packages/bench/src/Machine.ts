/** The machine of the measurement. */
import { availableParallelism, cpus, loadavg, totalmem } from "node:os"

/** Describes the machine and its runtime in one line. */
export const description = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${
    Math.round(totalmem() / 2 ** 30)
  } GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`

/** Average number of programs that ran or waited for a core during the last minute. */
export const load = (): number => loadavg()[0] ?? 0
