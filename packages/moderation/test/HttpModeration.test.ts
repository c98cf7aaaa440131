import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@kinora/webhook-signing/Signature"
import { Effect, Exit, Schema } from "effect"
import type { ServerResponse } from "node:http"
import * as HttpModeration from "../src/HttpModeration.ts"
import { accepted, rejected } from "../src/Moderation.ts"
import { file, input, output, picture, unreadable } from "./Content.ts"
import { json, listen } from "./Listener.ts"

const secret = "whsec_0123456789abcdef"

const decode = Schema.decodeUnknownSync(HttpModeration.Options)

const start = Effect.fnUntraced(function*(handle: (response: ServerResponse) => void, options: object = {}) {
  const { origin, requests, sockets } = yield* listen(handle)
  const moderation = yield* HttpModeration.make(
    decode({ url: `${origin}/check?v=1`, private: true, secret, ...options })
  )
  return { ...moderation, requests, sockets }
})

const answering = (answer: unknown, options?: object) => start((response) => json(response, answer), options)

const base64 = (text: string) => Buffer.from(text).toString("base64")

/** Responses that are not verdicts. */
const unusable: ReadonlyArray<readonly [what: string, handle: (response: ServerResponse) => void, problem: string]> = [
  ["another status", (response) => json(response, { verdict: "accept" }, 500), "Status 500"],
  ["a redirect", (response) => response.writeHead(302, { location: "/" }).end(), "Status 302"],
  ["no JSON", (response) => response.end("yes"), "Unreadable response"],
  ["another verdict", (response) => json(response, { verdict: "maybe" }), "Invalid verdict"],
  ["an image that was not sent", (response) => json(response, { verdict: "reject", image: 1 }), "Invalid verdict"],
  ["an endless body", (response) => endless(response), "Response too long"],
  ["a closed connection", (response) => response.destroy(), "UND_ERR_SOCKET"]
]

const endless = (response: ServerResponse): void => {
  const write = () => {
    while (!response.destroyed && response.write(Buffer.alloc(16 * 1024)));
  }
  response.on("drain", write)
  write()
}

describe("HttpModeration", () => {
  it.live("posts the input, signed, and returns the verdict", () =>
    Effect.gen(function*() {
      const { checkInput, requests } = yield* answering({ verdict: "accept" })
      assert.deepStrictEqual(yield* checkInput(input(picture("one"))), accepted)
      const [{ body, headers, path }] = requests as [typeof requests[number]]
      yield* Effect.promise(() => Signature.verify({ body, headers, secret }))
      const wrong = yield* Effect.exit(
        Effect.tryPromise(() => Signature.verify({ body, headers, secret: `${secret}x` }))
      )
      assert.isTrue(Exit.isFailure(wrong))
      const { created_at, ...event } = JSON.parse(body)
      assert.isFalse(Number.isNaN(Date.parse(created_at)))
      assert.strictEqual(path, "/check?v=1")
      assert.deepStrictEqual(event, {
        id: "gen_1/input",
        type: "moderation.input",
        data: {
          generation_id: "gen_1",
          account_id: "acct_1",
          model: "kinora-still",
          prompt: "a lake",
          images: [{ mime: "image/png", data: base64("one") }]
        }
      })
    }))

  it.live("posts the result, with the video if it is short", () =>
    Effect.gen(function*() {
      const { checkOutput, requests } = yield* answering({ verdict: "reject" }, { file_bytes_max: 5 })
      for (
        const checked of [
          output(picture("one")),
          output(picture("poster"), file("video/mp4", "video")),
          output(picture("one"), file("video/mp4", "videos"))
        ]
      ) assert.deepStrictEqual(yield* checkOutput(checked), rejected("safety"))
      const shown = requests.map(({ body }) => {
        const { data: { picture, video }, id, type } = JSON.parse(body)
        return { id, type, picture, video }
      })
      const event = { id: "gen_1/output", type: "moderation.output" }
      const one = { mime: "image/png", data: base64("one") }
      assert.deepStrictEqual(shown, [
        { ...event, picture: one, video: null },
        {
          ...event,
          picture: { mime: "image/webp", data: base64("small") },
          video: { mime: "video/mp4", data: base64("video") }
        },
        { ...event, picture: one, video: null }
      ])
    }))

  it.live("returns the reason and the image of a rejection", () =>
    Effect.gen(function*() {
      const { checkInput } = yield* answering({ verdict: "reject", reason: "copyright", image: 1, note: "ignored" })
      assert.deepStrictEqual(yield* checkInput(input(picture("one"), picture("two"))), rejected("copyright", 1))
    }))

  it.live("fails without a verdict, and does not follow redirects", () =>
    Effect.gen(function*() {
      for (const [what, handle, problem] of unusable) {
        const { checkInput, requests } = yield* start(handle)
        const error = yield* Effect.flip(checkInput(input(picture("one"))))
        assert.deepStrictEqual([error.message, error.isRetryable], [problem, true], what)
        assert.strictEqual(requests.length, 1)
      }
    }).pipe(Effect.scoped))

  it.live("ends at the time limit and closes the connection", () =>
    Effect.gen(function*() {
      const { checkOutput, requests, sockets } = yield* start(() => {}, { timeout: "300 millis" })
      assert.strictEqual((yield* Effect.flip(checkOutput(output(picture("one"))))).message, "Time limit")
      assert.strictEqual(requests.length, 1)
      while (sockets.size > 0) yield* Effect.promise(() => new Promise(setImmediate))
    }))

  it.live("fails permanently for content that is too long", () =>
    Effect.gen(function*() {
      const { checkInput, checkOutput, requests } = yield* answering({ verdict: "accept" }, { file_bytes_max: 3 })
      for (
        const check of [
          checkInput(input(picture("long"))),
          checkOutput(output(picture("long"))),
          checkOutput(output(undefined, file("video/mp4", "long")))
        ]
      ) assert.isFalse((yield* Effect.flip(check)).isRetryable)
      assert.strictEqual(requests.length, 0)
    }))

  it.live("accepts content without a verdict only if it is configured to", () =>
    Effect.gen(function*() {
      const handle = (response: ServerResponse) => json(response, {}, 503)
      const open = yield* start(handle, { on_failure: "accept", file_bytes_max: 3 })
      assert.deepStrictEqual(yield* open.checkInput(input()), accepted)
      assert.deepStrictEqual(yield* open.checkInput(input(unreadable)), accepted)
      assert.deepStrictEqual(yield* open.checkOutput(output(undefined, file("video/mp4", "long"))), accepted)
      const closed = yield* start(handle, { on_failure: "reject" })
      assert.strictEqual((yield* Effect.flip(closed.checkInput(input()))).message, "Status 503")
      assert.strictEqual((yield* Effect.flip(closed.checkInput(input(unreadable)))).message, "No such file")
    }))

  it.live("calls private addresses only if it is configured to", () =>
    Effect.gen(function*() {
      const { checkInput } = yield* HttpModeration.make(decode({ url: "https://127.0.0.1:9/", secret }))
      assert.include((yield* Effect.flip(checkInput(input()))).message, "public addresses only")
    }))

  it("rejects invalid options without showing the secret", () => {
    const exit = (options: object) => Schema.decodeUnknownExit(HttpModeration.Options)(options)
    const url = "https://moderation.example.com/"
    assert.isTrue(Exit.isSuccess(exit({ url, secret })))
    for (
      const options of [
        { url: "http://moderation.example.com/", secret },
        { url: "ftp://moderation.example.com/", secret, private: true },
        { url: "https://user@moderation.example.com/", secret },
        { url, secret: "short and secret" },
        { url, secret, on_failure: "ignore" },
        { url, secret, file_bytes_max: 0 }
      ]
    ) {
      const result = exit(options)
      assert.isTrue(Exit.isFailure(result), JSON.stringify(options))
      assert.notInclude(String(result), options.secret)
    }
  })
})
