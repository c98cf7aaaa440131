/** Durations without the time in which programs waited for a core. */
import { assert, it } from "@effect/vitest"
import * as Starvation from "../src/Starvation.ts"

it("leaves at most half of a duration out", () => {
  assert.strictEqual(Starvation.withoutWaits(1_000, 0), 1_000)
  assert.strictEqual(Starvation.withoutWaits(1_000, 300), 700)
  assert.strictEqual(Starvation.withoutWaits(1_000, 500), 500)
  // Two programs that waited at the same time.
  assert.strictEqual(Starvation.withoutWaits(1_000, 1_600), 500)
  // The statistics of a program that has ended are lost.
  assert.strictEqual(Starvation.withoutWaits(1_000, -200), 1_000)
})
