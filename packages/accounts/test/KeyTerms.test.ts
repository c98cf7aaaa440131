import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as KeyTerms from "../src/KeyTerms.ts"

it.effect("a key without terms allows every model", () =>
  Effect.sync(() => {
    assert.isTrue(KeyTerms.hasModel(KeyTerms.unrestricted, "any"))
    assert.isUndefined(KeyTerms.problemOf(KeyTerms.unrestricted, DateTime.makeUnsafe("2026-11-21T12:00:00.000Z")))
  }))

it.effect("a restricted key allows its models only", () =>
  Effect.sync(() => {
    const terms = { ...KeyTerms.unrestricted, models: Option.some(["a"]) }
    assert.isTrue(KeyTerms.hasModel(terms, "a"))
    assert.isFalse(KeyTerms.hasModel(terms, "A"))
  }))
