import { assert, it, vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Clock, Effect } from "effect"

const currentMinute = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 60_000))

/** Runs an example within one minute, since the limit starts anew with each minute. */
const runExample = (name: string) =>
  Effect.gen(function*() {
    const began = yield* currentMinute
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL(`../example/${name}.ts`, import.meta.url), environment)
    return { printed, isWithinMinute: began === (yield* currentMinute) }
  }).pipe(Effect.repeat({ until: ({ isWithinMinute }) => isWithinMinute }), Effect.map(({ printed }) => printed))

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.map(runExample("postgres"), (printed) => assert.strictEqual(printed, "true 1\ntrue 0\nfalse 0")))

it.live("the example without Effect prints what it shows", () =>
  Effect.map(
    runExample("promise"),
    (printed) => assert.strictEqual(printed, "true 1\ntrue 0\nfalse 0\nsent\n600 bytes left today")
  ))

it.live("the example in a schema prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    const printed = yield* Example.printed(() => import("../example/schema.ts"))
    assert.strictEqual(printed, "true 1")
  }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs()))))
