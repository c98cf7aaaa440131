import { assert, it } from "@effect/vitest"
import { Moderation, ModerationError } from "@kinora/moderation"
import { Effect, Layer } from "effect"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

/** Rejects by the prompt: the prompt itself, or the second image. Does not respond to `unchecked`. */
const moderation = Layer.succeed(Moderation.Moderation, {
  checkInput: ({ prompt }) => {
    if (prompt === "unchecked") return Effect.fail(ModerationError.unavailable("Status 500"))
    if (prompt === "prompt") return Effect.succeed(Moderation.rejected("safety"))
    return Effect.succeed(prompt === "image" ? Moderation.rejected("copyright", 1) : Moderation.accepted)
  },
  checkOutput: () => Effect.succeed(Moderation.accepted)
})

const layer = Host.layerWith({ moderation })

const images = Array.from({ length: 2 }, () => ({ data: Buffer.from(Host.pixel).toString("base64") }))

const bodyOf = (prompt: string) => ({ plan: "credits", model: "remix-1", params: { prompt, images } })

it.effect("rejected content gets 422 and charges nothing, and its key can be used again", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const create = (prompt: string) =>
      send("POST", "/v1/generations", { key, body: bodyOf(prompt), headers: { "idempotency-key": "one" } })
    for (
      const [prompt, details, message] of [
        ["prompt", { input: "prompt", reason: "safety" }, "rejected the prompt"],
        ["image", { input: "image", index: 1, reason: "copyright" }, "rejected params.images[1]"]
      ] as const
    ) {
      const answer = yield* create(prompt)
      assert.strictEqual(answer.status, 422)
      const error = errorOf(answer, "content_rejected")
      assert.deepStrictEqual([error.plan, error.details], ["credits", details])
      assert.include(error.message, message)
    }
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
    assert.strictEqual((yield* create("a lake")).status, 201)
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("a rejected prompt of the image endpoint gets 422 without a job", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const body = { plan: "credits", model: "kinora-still", prompt: "prompt" }
    const answer = yield* send("POST", "/v1/images/generations", { key, body })
    assert.deepStrictEqual(errorOf(answer, "content_rejected").details, { input: "prompt", reason: "safety" })
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("without a verdict, a request gets 503 with a time to retry", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const answer = yield* send("POST", "/v1/generations", { key, body: bodyOf("unchecked") })
    assert.strictEqual(answer.status, 503)
    assert.include(errorOf(answer, "unavailable").message, "could not be checked")
    assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(layer)))
