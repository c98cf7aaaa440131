import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example, layer } from "../example/job.ts"
import { openAccount } from "./Assembly.ts"

it.effect("runs the README's example", () =>
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

it.effect("shows the example in the README", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/job.ts"))
  }))
