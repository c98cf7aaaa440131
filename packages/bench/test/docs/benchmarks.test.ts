/** Compares the tables of `docs/reference/benchmarks.md` with the stored results. `npm run docs:tables` rewrites them. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import * as Results from "../../src/Results.ts"

it.effect("benchmarks.md has the tables of the stored results", () =>
  Effect.gen(function*() {
    const results = yield* Results.read
    yield* Effect.promise(async () => {
      const page = await readFile(Results.page, "utf8")
      await expect(Results.withTables(page, results)).toMatchFileSnapshot(Results.page)
    })
  }))
