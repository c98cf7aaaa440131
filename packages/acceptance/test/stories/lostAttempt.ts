/** A story whose worker is lost with a stored file, and whose next worker cannot delete the file. */
import type * as Story from "../../src/stories/Story.ts"

/** The second file of a result is late. */
const lateFile = (host: number): Story.Step => ({
  _tag: "fault",
  host,
  place: "put",
  kind: "stall",
  position: "end",
  skip: 1,
  count: 1,
  millis: 6_000
})

const kept: Story.Step = { _tag: "fault", host: 0, place: "delete", kind: "full", skip: 0, count: 6, millis: 20 }

const pass: Story.Step = { _tag: "pass", millis: 12_000 }

/** Either of the first two hosts runs the job. The lease of the lost one ends within 36 seconds. */
export const lostAttempt: Story.Story = {
  skews: [0, 0, 0],
  steps: [
    lateFile(0),
    lateFile(1),
    // The upstream takes two seconds.
    { _tag: "create", account: 0, keys: [5], host: 0 },
    { _tag: "pass", millis: 3_000 },
    { _tag: "kill", host: 0 },
    { _tag: "kill", host: 0 },
    { _tag: "start", place: 2 },
    kept,
    pass,
    pass,
    pass,
    pass
  ]
}
