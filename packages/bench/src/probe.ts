/** Runs in the process of a server before its program, and measures it for the parent process. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setInterval } from "node:timers"
import { residentBytesOfTree } from "./ProcessMemory.ts"

/** Interval of the timer, in milliseconds. Node counts it as part of each delay. */
const resolution = 1

const delays = monitorEventLoopDelay({ resolution })
delays.enable()

/** Interval in which the memory is read, in milliseconds. */
const memoryInterval = 50

let peakBytes = 0
setInterval(() => {
  peakBytes = Math.max(peakBytes, residentBytesOfTree(process.pid))
}, memoryInterval).unref()

const delay = (percentile: number): number => Math.max(0, delays.percentile(percentile) / 1e6 - resolution)

process.on("message", (message) => {
  if (message !== "measure") return
  const { system, user } = process.cpuUsage()
  process.send?.({
    p50: delay(50),
    p99: delay(99),
    cpuSeconds: (user + system) / 1e6,
    // The children are not in the maximum that the system has for the process alone.
    peakMebibytes: Math.max(peakBytes / 2 ** 20, process.resourceUsage().maxRSS / 1024)
  })
  delays.reset()
})
// The channel does not keep the server alive.
process.channel?.unref()
