import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { allOf } from "../src/doctor/allPages.ts"

it.effect("reads the pages of a list until the last one", () =>
  Effect.gen(function*() {
    const asked: Array<string | undefined> = []
    const all = yield* allOf(({ cursor }) =>
      Effect.sync(() => {
        asked.push(cursor)
        const next = asked.length
        return { data: [cursor ?? "first"], next_cursor: next === 3 ? null : `${next}` }
      })
    )
    assert.deepStrictEqual([all, asked], [["first", "1", "2"], [undefined, "1", "2"]])
  }))
