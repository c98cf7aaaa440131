import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example } from "../example/job.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* example, { again: "AlreadyCharged", credits: 1_000, discrepancies: [] })
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/job.ts"))
  }))
