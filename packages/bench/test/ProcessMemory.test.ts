/** Memory of processes. */
import { assert, it } from "@effect/vitest"
import * as ProcessMemory from "../src/ProcessMemory.ts"

it("returns the resident memory of a process and its maximum in bytes", () => {
  const resident = ProcessMemory.residentBytesOfTree(process.pid)
  // Other systems have no such files.
  if (process.platform !== "linux") return assert.strictEqual(ProcessMemory.peakBytesOf(process.pid), 0)
  assert.isAbove(resident, 10 * 2 ** 20)
  assert.isAbove(ProcessMemory.peakBytesOf(process.pid), 10 * 2 ** 20)
})

it("a process that does not exist has no memory", () => {
  assert.strictEqual(ProcessMemory.peakBytesOf(2 ** 30), 0)
})
