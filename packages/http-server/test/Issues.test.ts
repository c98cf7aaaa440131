import { assert, it } from "@effect/vitest"
import type { ErrorCode } from "@kinora/http-api/ErrorCode"
import { Effect } from "effect"
import { plain } from "../src/wire/issues.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

it.effect("rewrites the messages of schemas as plain sentences", () =>
  Effect.sync(() => {
    const rewritten = {
      "Missing key": "is required",
      "Expected no excess property": "is not a known property",
      "Expected string": "must be a string",
      "Expected array | null": "must be an array or null",
      "Expected \"image\" | \"video\"": "must be image or video",
      "Expected \"a\" | \"b\" | \"c\"": "must be a, b or c",
      "Expected CreateGenerationRequest": "must be an object",
      "Expected an integer from 1 to 100": "must be an integer from 1 to 100",
      "must be 1": "must be 1"
    }
    for (const [message, expected] of Object.entries(rewritten)) assert.strictEqual(plain(message), expected)
  }))

it.effect("puts the first problem of a request into the message", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const messageOf = Effect.fnUntraced(function*(path: string, body: unknown, code: ErrorCode) {
      const answer = yield* send(body === undefined ? "GET" : "POST", path, { key, body })
      return errorOf(answer, code).message
    })
    const create = (body: unknown) => messageOf("/v1/generations", body, "invalid_request")
    assert.strictEqual(yield* create({}), "plan is required. 2 more in details.issues.")
    assert.strictEqual(yield* create([]), "The request body must be an object.")
    assert.strictEqual(yield* create("{"), "The request body must be valid JSON.")
    assert.strictEqual(
      yield* create({ plan: "gold", model: "kinora-still", params: { prompt: "a lake" } }),
      "plan must be studio or credits."
    )
    const list = (query: string) => messageOf(`/v1/generations${query}`, undefined, "invalid_params")
    assert.strictEqual(yield* list("?limit=0"), "limit must be an integer from 1 to 100.")
    assert.strictEqual(yield* list("?cursor=a&cursor=b"), "cursor must be sent once.")
    assert.strictEqual(
      yield* messageOf(
        "/v1/images/generations",
        { model: "kinora-still", prompt: "a lake", n: 2, size: "big" },
        "invalid_params"
      ),
      "n must be 1; send one request per image. 1 more in details.issues."
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
