/** Processor times of a round. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Costs from "../src/Costs.ts"

/** Returns one time after the other, in seconds. */
const scripted = (...times: ReadonlyArray<number>) => {
  let next = 0
  return Effect.sync(() => times[next++])
}

it.effect("divides the processor time of a round by its operations", () =>
  Effect.gen(function*() {
    const times = yield* Costs.start({ databaseSeconds: scripted(10, 13) }, scripted(1, 2))
    assert.deepStrictEqual(yield* times(1_000), { serverMicros: 1_000, databaseMicros: 3_000 })
  }))

it.effect("omits times that the system does not report", () =>
  Effect.gen(function*() {
    const times = yield* Costs.start({ databaseSeconds: Effect.undefined }, scripted(1, 2))
    assert.deepStrictEqual(yield* times(1_000), { serverMicros: 1_000 })
    const others = yield* Costs.start({ databaseSeconds: scripted(10, 13) }, Effect.undefined)
    assert.deepStrictEqual(yield* others(1_000), { databaseMicros: 3_000 })
  }))

it.effect("measures this process unless it gets another one", () =>
  Effect.gen(function*() {
    const times = yield* Costs.start({ databaseSeconds: Effect.undefined })
    const before = process.cpuUsage()
    while (process.cpuUsage(before).user < 5_000);
    const { serverMicros = 0 } = yield* times(1)
    assert.isAtLeast(serverMicros, 5_000)
  }))
