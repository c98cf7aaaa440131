import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example, layer } from "../example/job.ts"
import { openAccount } from "./Assembly.ts"

it.effect("prints what the first example of the README shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* Example.printed(() => import("../example/memory.ts")),
      "queued true 92\ncancelled 100"
    )
  }))

it.effect("runs the README's example with a worker", () =>
  Effect.gen(function*() {
    const account = yield* openAccount({ credits: 20 })
    assert.deepStrictEqual(yield* example(account), {
      statuses: ["queued", "cancelled", "completed"],
      replayed: true,
      isWhole: true,
      refusal: "InsufficientCredits",
      credits: 4
    })
  }).pipe(Effect.provide(layer)))

it.effect("shows the examples in the README", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    for (const example of ["memory", "postgres", "job"]) {
      assert.include(readme, yield* read(`../example/${example}.ts`))
    }
  }))
