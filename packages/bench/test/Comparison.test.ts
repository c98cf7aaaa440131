/** The order of the runs of two commits, and their ratios. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Benchmark } from "../src/Benchmark.ts"
import * as Checkout from "../src/Checkout.ts"
import * as Comparison from "../src/Comparison.ts"
import * as Report from "../src/Report.ts"

/** Runs a benchmark with one figure of Kinora after the other, beside a peer whose figure is 10. */
const version = (
  name: string,
  figures: ReadonlyArray<number>,
  { asked, compares = "perSecond", peer = "peer" }: {
    readonly asked: Array<string>
    readonly compares?: Benchmark["compares"]
    readonly peer?: string
  }
): Comparison.Version => {
  let next = 0
  const round = (value: number) => ({ perSecond: value, p50: value })
  return {
    name,
    run: Effect.sync(() => {
      asked.push(name)
      return [{
        benchmark: { name: "sum", title: "Sums", compares },
        results: [{ name: "kinora", rounds: [round(figures[next++]!)] }, { name: peer, rounds: [round(10)] }]
      }]
    })
  }
}

const progress = () => Effect.void

it.effect("runs commits in turns, of which each begins a pair", () =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const before = version("before", [10, 20, 10], { asked })
    const after = version("after", [20, 20, 30], { asked })
    const [kinora, peer] = yield* Comparison.run({ before, after, pairs: 3, progress })
    assert.deepStrictEqual(asked, ["before", "after", "after", "before", "before", "after"])
    assert.deepStrictEqual(kinora, {
      benchmark: "sum",
      name: "kinora",
      before: [10, 20, 10],
      after: [20, 20, 30],
      ratio: { median: 2, min: 1, max: 3 }
    })
    assert.deepStrictEqual(peer?.ratio, { median: 1, min: 1, max: 1 })
  }))

it.effect("inverts the ratio when less is better", () =>
  Effect.gen(function*() {
    const compares = "p50"
    const [kinora] = yield* Comparison.run({
      before: version("before", [8], { asked: [], compares }),
      after: version("after", [2], { asked: [], compares }),
      pairs: 1,
      progress
    })
    assert.deepStrictEqual(kinora?.ratio, { median: 4, min: 4, max: 4 })
  }))

it.effect("omits contestants that one of the commits does not have, and the ratio to 0", () =>
  Effect.gen(function*() {
    const contestants = yield* Comparison.run({
      before: version("before", [0], { asked: [], peer: "an old peer" }),
      after: version("after", [2], { asked: [] }),
      pairs: 1,
      progress
    })
    assert.deepStrictEqual(contestants, [{ benchmark: "sum", name: "kinora", before: [0], after: [2] }])
  }))

it.effect("prints medians and ranges", () =>
  Effect.gen(function*() {
    const contestants = yield* Comparison.run({
      before: version("before", [1000, 3000], { asked: [] }),
      after: version("after", [2000, 3000], { asked: [] }),
      pairs: 2,
      progress
    })
    const text = Report.toComparison({
      commit: "v1",
      machine: "any",
      rounds: { seconds: 5, pairs: 2, warmUps: 1 },
      contestants
    })
    const row = text.split("\n").find((line) => line.includes("kinora"))
    assert.deepStrictEqual(row?.split("|").map((cell) => cell.trim()).slice(1, -1), [
      "**sum**",
      "kinora",
      "2,000 (1,000 to 3,000)",
      "2,500 (2,000 to 3,000)",
      "1.50x (1.00x to 2.00x)"
    ])
  }))

it("the command of another commit gets the number of warm-up rounds only if it is not the default", () => {
  const options = { chosen: ["create"], seconds: 2, url: "postgres://localhost/db" }
  const args = ["create", "--pairs", "1", "--seconds", "2", "--url", options.url]
  assert.deepStrictEqual(Checkout.pairArgs({ ...options, warmUps: 1 }), args)
  assert.deepStrictEqual(Checkout.pairArgs({ ...options, warmUps: 0 }), [...args, "--warm-ups", "0"])
})
