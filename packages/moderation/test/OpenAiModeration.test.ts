import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { accepted, rejected } from "../src/Moderation.ts"
import * as OpenAiModeration from "../src/OpenAiModeration.ts"
import { file, input, output, picture } from "./Content.ts"
import { json, listen } from "./Listener.ts"

const decode = Schema.decodeUnknownSync(OpenAiModeration.Options)

const urlOf = (mime: string, text: string) => `data:${mime};base64,${Buffer.from(text).toString("base64")}`

/** A server that flags these texts and the images with these texts. Returns the parts that it received. */
const start = Effect.fnUntraced(function*(flags: ReadonlyArray<string>, options: object = {}) {
  const parts: Array<unknown> = []
  const { origin, requests } = yield* listen((response, { body }) => {
    const { input: [part], model } = JSON.parse(body)
    parts.push(part)
    const content: string = part.text ?? part.image_url.url
    const isFlagged = flags.some((flag) => content === flag || content === urlOf("image/png", flag))
    json(response, { id: "modr-1", model, results: [{ flagged: isFlagged, categories: {}, category_scores: {} }] })
  })
  const moderation = yield* OpenAiModeration.make(
    decode({ base_url: `${origin}/v1/`, private: true, api_key: "sk-0123456789abcdef", ...options })
  )
  return { ...moderation, parts, requests }
})

describe("OpenAiModeration", () => {
  it.live("checks the prompt and each image, one per request", () =>
    Effect.gen(function*() {
      const { checkInput, parts, requests } = yield* start([])
      assert.deepStrictEqual(yield* checkInput(input(picture("one"), picture("two"))), accepted)
      assert.deepStrictEqual(parts[0], { type: "text", text: "a lake" })
      assert.sameDeepMembers(parts.slice(1), [
        { type: "image_url", image_url: { url: urlOf("image/png", "one") } },
        { type: "image_url", image_url: { url: urlOf("image/png", "two") } }
      ])
      for (const { body, headers, path } of requests) {
        assert.strictEqual(path, "/v1/moderations")
        assert.strictEqual(headers.authorization, "Bearer sk-0123456789abcdef")
        assert.strictEqual(JSON.parse(body).model, "omni-moderation-latest")
      }
    }))

  it.live("rejects a flagged prompt without sending the images", () =>
    Effect.gen(function*() {
      const { checkInput, requests } = yield* start(["a lake"])
      assert.deepStrictEqual(yield* checkInput(input(picture("one"))), rejected("safety"))
      assert.strictEqual(requests.length, 1)
    }))

  it.live("names the first flagged image", () =>
    Effect.gen(function*() {
      const { checkInput } = yield* start(["two", "three"])
      const images = ["one", "two", "three"].map((text) => picture(text))
      assert.deepStrictEqual(yield* checkInput(input(...images)), rejected("safety", 1))
    }))

  it.live("does not send an empty prompt", () =>
    Effect.gen(function*() {
      const { checkInput, requests } = yield* start([])
      assert.deepStrictEqual(yield* checkInput({ ...input(), prompt: " " }), accepted)
      assert.strictEqual(requests.length, 0)
    }))

  it.live("checks an image, or the poster of a video, and the smaller copy of a long one", () =>
    Effect.gen(function*() {
      const { checkOutput, parts } = yield* start(["one"], { file_bytes_max: 5 })
      assert.deepStrictEqual(yield* checkOutput(output(picture("one"))), rejected("safety"))
      assert.deepStrictEqual(yield* checkOutput(output(picture("poster"), file("video/mp4", "video"))), accepted)
      assert.deepStrictEqual(parts[1], { type: "image_url", image_url: { url: urlOf("image/webp", "small") } })
    }))

  it.live("fails for a video without a poster, and without a verdict", () =>
    Effect.gen(function*() {
      const { checkOutput } = yield* start([])
      const error = yield* Effect.flip(checkOutput(output(undefined, file("video/mp4", "video"))))
      assert.deepStrictEqual([error.message, error.isRetryable], ["The video has no poster", false])
      for (const body of [{ results: [] }, { results: [{}] }, { error: { message: "sk-0123456789abcdef" } }]) {
        const { origin } = yield* listen((response) => json(response, body))
        const { checkInput } = yield* OpenAiModeration.make(
          decode({ base_url: origin, private: true, api_key: "sk-0123456789abcdef" })
        )
        assert.strictEqual((yield* Effect.flip(checkInput(input()))).message, "Invalid verdict")
      }
    }))
})
