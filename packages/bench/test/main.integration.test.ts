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
      rounds: Schema.Array(Schema.Struct({ perSecond: Schema.Number.check(Schema.isGreaterThan(0)) }))
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
    for (const { results } of outcomes) for (const { rounds } of results) assert.strictEqual(rounds.length, 1)
  }), 300_000)
