/**
 * The command runs benchmarks that render nothing, peers included, with the shortest rounds and no warm-up. Renders
 * cannot be short. Of benchmarks that differ by a number, such as that of the connections, it runs one.
 */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"

const names =
  ("create get replay image waiting content ranges claim blocked caps start charge limit-1-32 webhooks webhooks-isolation " +
    "size-list-filtered size-claim boot-again neighbours-lock").split(" ")

const main = join(import.meta.dirname, "../src/main.ts")

const Output = Schema.fromJsonString(Schema.Struct({
  outcomes: Schema.Array(Schema.Struct({
    benchmark: Schema.Struct({ name: Schema.String }),
    results: Schema.Array(Schema.Struct({
      name: Schema.String,
      rounds: Schema.Array(Schema.Struct({
        perSecond: Schema.optionalKey(Schema.Number),
        readySeconds: Schema.optionalKey(Schema.Number)
      }))
    }))
  }))
}))

/** A busy machine can refuse a request of **neighbours**: the command prints its report all the same, and exits with 1. */
const withReport = (error: { readonly code?: number; readonly stderr: string; readonly stdout: string }) => {
  if (error.code === 1 && error.stderr.includes("Operations that must not fail")) return error
  throw error
}

it.live("the command runs the named benchmarks", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const options = ["--seconds", "0.1", "--pairs", "1", "--warm-ups", "0", "--json", "--url", url]
    const { stdout } = yield* Effect.promise(() =>
      promisify(execFile)(process.execPath, ["--conditions=@kinora/source", main, ...names, ...options]).catch(
        withReport
      )
    )
    const { outcomes } = yield* Schema.decodeEffect(Output)(stdout)
    assert.deepStrictEqual(outcomes.map(({ benchmark }) => benchmark.name), names)
    for (const { name, rounds } of outcomes.flatMap(({ results }) => results)) {
      assert.strictEqual(rounds.length, 1, name)
      // A receiver that never responds blocks a queue shared by all receivers, which this benchmark shows.
      const isStopped = name.startsWith("graphile-worker") && name.endsWith(", beside it")
      // A server without work can use less processor time than the system reports.
      const isIdle = name.endsWith("wait") || name.endsWith("waits")
      for (const { perSecond = 0, readySeconds = 0 } of rounds) {
        if (!isStopped && !isIdle) assert.isAbove(perSecond + readySeconds, 0, name)
      }
    }
  }), 1_200_000)

it.live("the command rejects --save with --compare", () =>
  Effect.gen(function*() {
    const args = ["--conditions=@kinora/source", main, "create", "--save", "--compare", "HEAD~1"]
    const failure = yield* Effect.flip(Effect.tryPromise(() => promisify(execFile)(process.execPath, args)))
    assert.match(String(failure.cause), /--save stores .* cannot be combined with --compare/)
  }), 120_000)
