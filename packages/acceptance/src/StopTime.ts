/** How long a program waits while it stops, independent of the load of the machine. */
import { Clock, Effect, Schedule } from "effect"
import { readFile } from "node:fs/promises"
import type * as Program from "./Program.ts"

/** How a program ended, and how long it waited until then. */
export interface Stopped extends Program.Ended {
  /**
   * Milliseconds from the signal to the end in which the main thread neither ran nor waited for a core. Without Linux's
   * scheduler statistics, all milliseconds.
   */
  readonly waitedMillis: number
}

/** Stops a program with SIGTERM and waits for its end. */
export const stop = Effect.fn("StopTime.stop")(function*({ pid, stop }: Program.Program) {
  const busyBefore = yield* busyMillis(pid)
  const asked = yield* Clock.currentTimeMillis
  let waitedMillis = 0
  const look = Effect.gen(function*() {
    const elapsed = (yield* Clock.currentTimeMillis) - asked
    const busy = yield* busyMillis(pid)
    if (busyBefore === undefined) waitedMillis = elapsed
    else if (busy !== undefined) waitedMillis = elapsed - (busy - busyBefore)
  })
  // Until the end, because the statistics disappear with the process.
  yield* Effect.forkChild(Effect.repeat(look, Schedule.spaced("20 millis")), { startImmediately: true })
  const ended = yield* stop
  const stopped: Stopped = { ...ended, waitedMillis }
  return stopped
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Milliseconds that the main thread of a process ran or waited for a core, or `undefined` if there are no statistics. */
const busyMillis = (pid: number): Effect.Effect<number | undefined> =>
  Effect.promise(async () => {
    const statistics = await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => undefined)
    if (statistics === undefined) return undefined
    const [ran = 0, waited = 0] = statistics.split(" ").map(Number)
    return (ran + waited) / 1e6
  })
