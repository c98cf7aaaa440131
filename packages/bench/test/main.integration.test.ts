/** Every benchmark still runs, peers included: as briefly as it can, by the command itself. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"

const names =
  "create get replay image content ranges claim blocked caps start charge charge-hot limit-1-32 limit-100-32 limit-100-256 webhooks webhooks-one webhooks-isolation"
    .split(" ")

const main = join(import.meta.dirname, "../src/main.ts")

const Output = Schema.fromJsonString(Schema.Struct({
  outcomes: Schema.Array(Schema.Struct({
    benchmark: Schema.Struct({ name: Schema.String }),
    results: Schema.Array(Schema.Struct({
      name: Schema.String,
      rounds: Schema.Array(Schema.Struct({ perSecond: Schema.Number }))
    }))
  }))
}))

it.live("runs all benchmarks", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const options = ["--seconds", "0.1", "--pairs", "1", "--json", "--url", url]
    const { stdout } = yield* Effect.promise(() =>
      promisify(execFile)(process.execPath, ["--conditions=@kinora/source", main, ...options])
    )
    const { outcomes } = yield* Schema.decodeEffect(Output)(stdout)
    assert.deepStrictEqual(outcomes.map(({ benchmark }) => benchmark.name), names)
    for (const { name, rounds } of outcomes.flatMap(({ results }) => results)) {
      assert.strictEqual(rounds.length, 1, name)
      // A queue for all receivers is stopped by one that never answers, which is the point of that benchmark.
      const isStopped = name.startsWith("graphile-worker") && name.endsWith(", beside it")
      for (const { perSecond } of rounds) if (!isStopped) assert.isAbove(perSecond, 0, name)
    }
  }), 300_000)
