/** The unmodified `ai` library with both of its providers for OpenAI-style services. */
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, layer } from "@effect/vitest"
import { APICallError, generateImage, type ImageModel, RetryError } from "ai"
import { Effect } from "effect"
import { assertPatient, ImageServer, makeRecorder, pngSizeOf } from "./imageServer.ts"

const providers = ["@ai-sdk/openai", "@ai-sdk/openai-compatible"] as const
type ProviderName = typeof providers[number]

interface Refusal {
  readonly model: string
  readonly status: number
  readonly code: string
}

const refusals: ReadonlyArray<Refusal> = [
  { model: "dall-e-none", status: 404, code: "model_not_found" },
  { model: "drill-video", status: 400, code: "model_kind_mismatch" },
  { model: "drill-dear", status: 402, code: "insufficient_credits" },
  { model: "drill-failing", status: 422, code: "generation_failed" },
  { model: "drill-rejecting", status: 422, code: "content_rejected" }
]

layer(ImageServer.layer, { excludeTestServices: true, timeout: "5 minutes" })("generateImage of ai", (it) => {
  for (const provider of providers) {
    it.effect(`generates an image of the requested size (${provider})`, () =>
      Effect.gen(function*() {
        const { modelOf } = yield* start(provider)
        const { image, warnings } = yield* Effect.promise(() =>
          generateImage({ model: modelOf("kinora-draft"), prompt: "a lake", size: "1024x1536" })
        )
        assert.deepStrictEqual([image.mediaType, warnings], ["image/png", []])
        const [width, height] = pngSizeOf(image.uint8Array)
        assert.closeTo(width / height, 2 / 3, 0.01)
      }))

    it.effect(`is charged once per Idempotency-Key (${provider})`, () =>
      Effect.gen(function*() {
        const { book, modelOf } = yield* start(provider)
        const generate = Effect.promise(() =>
          generateImage({ model: modelOf("drill"), prompt: "a lake", headers: { "Idempotency-Key": "order-1" } })
        )
        assert.strictEqual((yield* generate).image.base64, (yield* generate).image.base64)
        assert.deepStrictEqual(yield* book, { jobs: 1, charges: 1, refunds: 0 })
      }))

    it.effect(`accepts base64 from a model that returns it by default (${provider})`, () =>
      Effect.gen(function*() {
        const { modelOf } = yield* start(provider)
        const { image } = yield* Effect.promise(() =>
          generateImage({ model: modelOf("gpt-image-drill"), prompt: "a lake" })
        )
        assert.deepStrictEqual(pngSizeOf(image.uint8Array), [16, 16])
      }))

    it.effect(`retries a 504 after the requested delay and receives the image of the first job (${provider})`, () =>
      Effect.gen(function*() {
        const { book, exchanges, modelOf } = yield* start(provider, { isHasty: true })
        const { image } = yield* Effect.promise(() => generateImage({ model: modelOf("drill-slow"), prompt: "a lake" }))
        assert.deepStrictEqual(pngSizeOf(image.uint8Array), [16, 16])
        assertPatient(exchanges.filter(({ method }) => method === "POST"))
        assert.deepStrictEqual(yield* book, { jobs: 1, charges: 1, refunds: 0 })
      }))

    for (const { code, model, status } of refusals) {
      it.effect(`fails with the code ${code} without a retry (${provider})`, () =>
        Effect.gen(function*() {
          const { book, exchanges, modelOf } = yield* start(provider)
          const failure = yield* failureOf(() => generateImage({ model: modelOf(model), prompt: "a lake" }))
          if (!APICallError.isInstance(failure)) return assert.fail(String(failure))
          assert.deepStrictEqual([failure.statusCode, failure.isRetryable], [status, false])
          assert.deepNestedInclude(failure.data, { "error.code": code })
          assert.strictEqual(exchanges.length, 1)
          const { charges, refunds } = yield* book
          assert.strictEqual(charges, refunds)
        }))
    }
  }

  it.effect("reports a 504 after two retries", () =>
    Effect.gen(function*() {
      const { exchanges, modelOf } = yield* start("@ai-sdk/openai", { isHasty: true })
      const failure = yield* failureOf(() => generateImage({ model: modelOf("drill-endless"), prompt: "a lake" }))
      assert.isTrue(RetryError.isInstance(failure), String(failure))
      assert.deepStrictEqual(exchanges.map(({ status }) => status), [504, 504, 504])
    }))
})

/** A provider with the key of a new account, and functions to inspect both. */
const start = Effect.fnUntraced(function*(provider: ProviderName, options: { readonly isHasty?: boolean } = {}) {
  const { baseUrl, bookOf, hastyBaseUrl, openAccount } = yield* ImageServer
  const account = yield* openAccount
  const { exchanges, fetch } = makeRecorder()
  const settings = {
    name: "kinora",
    baseURL: options.isHasty === true ? hastyBaseUrl : baseUrl,
    apiKey: account.key,
    headers: { "X-Plan": "credits" },
    fetch
  }
  const modelOf = (id: string): ImageModel =>
    provider === "@ai-sdk/openai" ? createOpenAI(settings).image(id) : createOpenAICompatible(settings).imageModel(id)
  return { modelOf, exchanges, book: bookOf(account) }
})

/** The error of a failed call. */
const failureOf = (call: () => Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() => call().then(() => assert.fail("It did not fail"), (error: unknown) => error))
