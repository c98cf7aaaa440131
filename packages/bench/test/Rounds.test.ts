/** The order of rounds, the warm-up round, and the ratios. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Benchmark, Contestant } from "../src/Benchmark.ts"
import * as Rounds from "../src/Rounds.ts"

const environment = {
  database: Effect.succeed("postgres://nowhere"),
  tidy: () => Effect.void,
  databaseSeconds: Effect.undefined,
  log: { end: Effect.succeed(""), bytesSince: () => Effect.succeed(0) },
  seconds: 1
}

/** Returns one figure after the other and records each round. */
const scripted = (name: string, figures: ReadonlyArray<number>, asked: Array<string>): Contestant => {
  let next = 0
  return {
    name,
    round: Effect.sync(() => {
      asked.push(name)
      return { perSecond: figures[next]!, p50: figures[next++]! }
    })
  }
}

const run = (compares: Benchmark["compares"], ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const contestants = Effect.sync(() => [scripted("ours", ours, asked), scripted("theirs", theirs, asked)])
    const outcome = yield* Rounds.run(
      { name: "sum", title: "Sums", compares, contestants: () => contestants },
      { pairs: ours.length - 1, warmUps: 1, environment, progress: () => Effect.void }
    )
    return { asked, outcome }
  })

it.effect("runs contestants in turns and drops the warm-up round", () =>
  Effect.gen(function*() {
    const { asked, outcome } = yield* run("perSecond", [1, 30, 20], [1000, 10, 20])
    assert.deepStrictEqual(asked, ["ours", "theirs", "ours", "theirs", "ours", "theirs"])
    const [ours, theirs] = outcome.results
    assert.deepStrictEqual(ours?.rounds.map(({ perSecond }) => perSecond), [30, 20])
    assert.deepStrictEqual(ours?.ratio, undefined)
    assert.deepStrictEqual(theirs?.ratio, { median: 2, min: 1, max: 3 })
  }))

it.effect("inverts the ratio when less is better", () =>
  Effect.gen(function*() {
    const { outcome } = yield* run("p50", [1, 2, 2], [1, 8, 4])
    assert.deepStrictEqual(outcome.results[1]?.ratio, { median: 3, min: 2, max: 4 })
  }))

it.effect("returns no ratio when a figure is 0", () =>
  Effect.gen(function*() {
    const { outcome } = yield* run("p50", [1, 0, 2], [1, 8, 4])
    assert.isUndefined(outcome.results[1]?.ratio)
  }))

it.effect("interrupts a round that exceeds its timeout", () =>
  Effect.gen(function*() {
    const hanging = Effect.succeed([{ name: "ours", round: Effect.never }])
    const failure = yield* Effect.flip(
      Rounds.run(
        { name: "sum", title: "Sums", compares: "p50", contestants: () => hanging },
        { pairs: 1, warmUps: 1, environment: { ...environment, seconds: 0 }, progress: () => Effect.void }
      ).pipe(Effect.raceFirst(Effect.forever(Effect.andThen(TestClock.adjust("1 minute"), Effect.yieldNow))))
    )
    assert.strictEqual(failure.message, "sum: a round of ours does not end")
  }))

it.effect("counts once, after the rounds", () =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const counts = { statements: 13, roundTrips: 12, walBytes: 4096 }
    const counted = Effect.sync(() => {
      asked.push("counting")
      return counts
    })
    const contestants = Effect.sync(() => [
      { ...scripted("ours", [1, 2], asked), counted },
      scripted("theirs", [1, 2], asked)
    ])
    const { results } = yield* Rounds.run(
      { name: "sum", title: "Sums", compares: "p50", contestants: () => contestants },
      { pairs: 2, warmUps: 0, environment, progress: () => Effect.void }
    )
    assert.deepStrictEqual(asked, ["ours", "theirs", "ours", "theirs", "counting"])
    assert.deepStrictEqual(results.map(({ counts }) => counts), [counts, undefined])
  }))
