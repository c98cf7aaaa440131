/** Processor times of processes. */
import { assert, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as ProcessTimes from "../src/ProcessTimes.ts"

/** Works for a second, and has a child that has done so. Prints a line, and waits. */
const program = `
const work = () => {
  for (let used = 0; used < 1_000_000;) {
    const { system, user } = process.cpuUsage()
    used = system + user
  }
}
work()
require("node:child_process").spawnSync(process.execPath, ["-e", "(" + work + ")()"])
console.log("ready")
setInterval(() => {}, 1000)`

it("returns the processor time of a process and of its children in seconds", async () => {
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "ignore"] })
  try {
    await once(child.stdout, "data")
    const measured = await ProcessTimes.secondsOfTree(child.pid ?? 0)
    // Other systems have no such files.
    if (process.platform !== "linux") return assert.isUndefined(measured)
    assert.isAtLeast(measured ?? 0, 1.9)
    assert.isAtMost(measured ?? 0, 9)
  } finally {
    child.kill()
  }
})

it("returns nothing for a process that does not exist", async () => {
  assert.isUndefined(await ProcessTimes.secondsOfTree(2 ** 30))
})
