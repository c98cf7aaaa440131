/** The unmodified `openai` client with its base URL set to `{base_url}/v1`. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  UnprocessableEntityError
} from "openai"
import * as Client from "../src/Client.ts"
import { assertPatient, ImageServer, makeRecorder, models, pngSizeOf } from "./imageServer.ts"

const Pending = Schema.Struct({ details: Schema.Struct({ generation_id: Schema.String }) })

interface Refusal {
  readonly what: string
  readonly request: (client: OpenAI) => Promise<unknown>
  /** The exact class of the error. */
  readonly error: { readonly name: string }
  readonly code: string
  /** Default: the key of the account. */
  readonly apiKey?: string
}

/** Overrides of the request for an image. */
const image = (changed: Partial<OpenAI.ImageGenerateParams>) => (client: OpenAI): Promise<unknown> =>
  client.images.generate({ model: "drill", prompt: "a lake", ...changed })

const refusals: ReadonlyArray<Refusal> = [
  {
    what: "a key that is none",
    request: image({}),
    apiKey: "kin_none",
    error: AuthenticationError,
    code: "unauthorized"
  },
  {
    what: "a model that is not sold",
    request: image({ model: "dall-e-3" }),
    error: NotFoundError,
    code: "model_not_found"
  },
  {
    what: "models.retrieve of such a model",
    request: (client) => client.models.retrieve("dall-e-3"),
    error: NotFoundError,
    code: "model_not_found"
  },
  {
    what: "images.edit",
    request: (client) =>
      client.images.edit({
        model: "drill",
        prompt: "a lake",
        image: new File(["image"], "lake.png", { type: "image/png" })
      }),
    error: NotFoundError,
    code: "not_found"
  },
  { what: "more than one image", request: image({ n: 2 }), error: BadRequestError, code: "invalid_params" },
  {
    what: "an image in parts",
    request: image({ stream: true }),
    error: BadRequestError,
    code: "invalid_params"
  },
  { what: "no prompt", request: image({ prompt: "" }), error: BadRequestError, code: "invalid_params" },
  {
    what: "a video",
    request: image({ model: "drill-video" }),
    error: BadRequestError,
    code: "model_kind_mismatch"
  },
  {
    what: "a Studio model without a plan",
    request: (client) =>
      client.images.generate({ model: "kinora-draft", prompt: "a lake" }, { headers: { "X-Plan": null } }),
    error: BadRequestError,
    code: "plan_required"
  },
  {
    what: "a plan that is not the header's",
    request: (client) =>
      client.post("/images/generations", { body: { model: "kinora-draft", prompt: "a lake", plan: "studio" } }),
    error: BadRequestError,
    code: "plan_conflict"
  },
  {
    what: "an image that is too expensive",
    request: image({ model: "drill-dear" }),
    error: APIError,
    code: "insufficient_credits"
  },
  {
    what: "a job that fails",
    request: image({ model: "drill-failing" }),
    error: UnprocessableEntityError,
    code: "generation_failed"
  },
  {
    what: "a job that is rejected",
    request: image({ model: "drill-rejecting" }),
    error: UnprocessableEntityError,
    code: "content_rejected"
  },
  {
    what: "an Idempotency-Key for another request",
    request: async (client) => {
      const headers = { "Idempotency-Key": "order-1" }
      await client.images.generate({ model: "drill", prompt: "a lake" }, { headers })
      return client.images.generate({ model: "drill", prompt: "a wood" }, { headers })
    },
    error: UnprocessableEntityError,
    code: "idempotency_key_reused"
  }
]

layer(ImageServer.layer, { excludeTestServices: true, timeout: "5 minutes" })("the openai client", (it) => {
  it.effect("images.generate returns a URL that needs no key, of an image of the requested size", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const answer = yield* Effect.promise(() =>
        client.images.generate({ model: "kinora-draft", prompt: "a lake", size: "1536x1024" })
      )
      assert.isAbove(answer.created, 1_700_000_000)
      assert.strictEqual(answer.data?.length, 1)
      const { url = "" } = answer.data?.[0] ?? {}
      assert.strictEqual(new URL(url).origin, new URL(client.baseURL).origin)
      const image = yield* Client.send(url)
      assert.deepStrictEqual([image.status, image.headers.get("content-type")], [200, "image/png"])
      const [width, height] = pngSizeOf(image.bytes)
      assert.closeTo(width / height, 3 / 2, 0.01)
    }))

  it.effect("images.generate returns base64 if response_format is b64_json", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const { data } = yield* Effect.promise(() =>
        client.images.generate({ model: "kinora-draft", prompt: "a lake", response_format: "b64_json" })
      )
      assert.deepStrictEqual(data?.map((image) => Object.keys(image)), [["b64_json"]])
      const [width, height] = pngSizeOf(Buffer.from(data?.[0]?.b64_json ?? "", "base64"))
      assert.strictEqual(width, height)
    }))

  it.effect("images.generate accepts the id that a model had before, and returns an image of the former size", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const { data } = yield* Effect.promise(() =>
        client.images.generate({ model: "kinora-sketch-1", prompt: "a lake", response_format: "b64_json" })
      )
      assert.deepStrictEqual(pngSizeOf(Buffer.from(data?.[0]?.b64_json ?? "", "base64")), [1024, 1024])
    }))

  it.effect("images.generate returns the model's default format without response_format", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const { data } = yield* Effect.promise(() =>
        client.images.generate({ model: "gpt-image-drill", prompt: "a lake" })
      )
      assert.deepStrictEqual(data?.map((image) => Object.keys(image)), [["b64_json"]])
    }))

  it.effect("images.generate is charged once per Idempotency-Key", () =>
    Effect.gen(function*() {
      const { book, client } = yield* start()
      const generate = Effect.promise(() =>
        client.images.generate({ model: "drill", prompt: "a lake" }, { headers: { "Idempotency-Key": "order-1" } })
      )
      const first = yield* generate
      assert.deepStrictEqual((yield* generate).data, first.data)
      assert.deepStrictEqual(yield* book, { jobs: 1, charges: 1, refunds: 0 })
    }))

  it.effect("models.list and models.retrieve return the models on sale", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const { data } = yield* Effect.promise(() => client.models.list())
      assert.deepStrictEqual(data.map(({ id }) => id), models.map(({ id }) => id))
      assert.strictEqual((yield* Effect.promise(() => client.models.retrieve("drill"))).id, "drill")
    }))

  for (const { apiKey, code, error, request, what } of refusals) {
    it.effect(`${what} is a ${error.name} with the code ${code} and is not retried`, () =>
      Effect.gen(function*() {
        const { book, client, exchanges } = yield* start({ apiKey })
        const failure = yield* failureOf(() => request(client))
        assert.deepStrictEqual([failure.constructor, failure.code], [error, code])
        assert.strictEqual(failure.requestID, failure.headers?.get("x-request-id"))
        assert.match(failure.message, /^4\d\d \w.+\.$/)
        assert.strictEqual(exchanges.filter(({ status }) => status !== 200).length, 1)
        // Nothing was charged, or the charge was refunded.
        const { charges, jobs, refunds } = yield* book
        assert.strictEqual(charges - refunds, exchanges.length - 1)
        assert.strictEqual(jobs, charges)
      }))
  }

  it.effect("the limit of a key is a RateLimitError with the delay", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const failure = yield* failureOf(async () => {
        // More requests than two minutes permit.
        for (let sent = 0; sent <= 600; sent += 32) {
          await Promise.all(Array.from({ length: 32 }, () => client.models.retrieve("drill", { maxRetries: 0 })))
        }
      })
      assert.instanceOf(failure, RateLimitError)
      assert.strictEqual(failure.code, "rate_limited")
      assert.nestedPropertyVal(failure.error, "details.scope", "key")
      const wait = Number(failure.headers.get("retry-after-ms"))
      assert.isTrue(wait >= 0 && wait <= 60_000, String(wait))
      assert.strictEqual(failure.headers.get("x-ratelimit-remaining"), "0")
    }))

  it.effect("a 409 with x-should-retry false is not retried, although the client retries other 409s", () =>
    Effect.gen(function*() {
      const { api, client, exchanges } = yield* start()
      yield* Effect.promise(() => client.images.generate({ model: "drill", prompt: "a lake" }))
      const [job] = Client.jobsOf(yield* api.request("/v1/generations"))
      exchanges.length = 0
      const failure = yield* failureOf(() => client.post(`/generations/${job?.id}/cancel`))
      assert.instanceOf(failure, ConflictError)
      assert.deepStrictEqual([failure.code, exchanges.length], ["not_cancellable", 1])
    }))

  it.effect("retries a 504 after the requested delay and receives the image of the first job, charged once", () =>
    Effect.gen(function*() {
      const { book, client, exchanges } = yield* start({ isHasty: true })
      const { data } = yield* Effect.promise(() => client.images.generate({ model: "drill-slow", prompt: "a lake" }))
      assert.isString(data?.[0]?.url)
      assertPatient(exchanges)
      assert.deepStrictEqual(yield* book, { jobs: 1, charges: 1, refunds: 0 })
    }))

  it.effect("without retries, a 504 is an InternalServerError with the code generation_pending and the id of the job", () =>
    Effect.gen(function*() {
      const { api, book, client } = yield* start({ isHasty: true })
      const failure = yield* failureOf(() =>
        client.images.generate({ model: "drill-slow", prompt: "a lake" }, { maxRetries: 0 })
      )
      assert.instanceOf(failure, InternalServerError)
      assert.deepStrictEqual([failure.status, failure.code], [504, "generation_pending"])
      const { details } = yield* Schema.decodeUnknownEffect(Pending)(failure.error)
      assert.strictEqual((yield* api.awaitEnd(details.generation_id)).status, "completed")
      assert.deepStrictEqual(yield* book, { jobs: 1, charges: 1, refunds: 0 })
    }))
})

/** A client of a new account, and functions to inspect both. */
const start = Effect.fnUntraced(
  function*(options: { readonly isHasty?: boolean; readonly apiKey?: string | undefined } = {}) {
    const { baseUrl, bookOf, hastyBaseUrl, openAccount } = yield* ImageServer
    const account = yield* openAccount
    const { exchanges, fetch } = makeRecorder()
    const client = new OpenAI({
      baseURL: options.isHasty === true ? hastyBaseUrl : baseUrl,
      apiKey: options.apiKey ?? account.key,
      defaultHeaders: { "X-Plan": "credits" },
      fetch
    })
    return { client, exchanges, book: bookOf(account), api: Client.make(new URL(client.baseURL).origin, account.key) }
  }
)

/** The error response of a failed call. */
const failureOf = (request: () => Promise<unknown>) =>
  Effect.promise(() =>
    request().then(
      () => assert.fail("It did not fail"),
      (error: unknown) => error instanceof APIError ? error : assert.fail(String(error))
    )
  )
