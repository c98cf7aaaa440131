/** Processor times of processes. */
import { assert, it } from "@effect/vitest"
import * as ProcessTimes from "../src/ProcessTimes.ts"

it("returns the processor time of a process in seconds", async () => {
  const own = () => {
    const { system, user } = process.cpuUsage()
    return (system + user) / 1e6
  }
  const before = own()
  const measured = await ProcessTimes.secondsOfTree(process.pid)
  // Other systems have no such files.
  if (process.platform !== "linux") return assert.isUndefined(measured)
  assert.isAtLeast(measured ?? 0, before - 0.1)
  assert.isAtMost(measured ?? 0, own() + 60)
})

it("returns nothing for a process that does not exist", async () => {
  assert.isUndefined(await ProcessTimes.secondsOfTree(2 ** 30))
})
