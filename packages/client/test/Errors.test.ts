import { assert, it } from "@effect/vitest"
import { inspect } from "node:util"
import { Kinora } from "../src/Kinora.ts"
import { ConnectionError, KinoraError, ResponseError } from "../src/KinoraError.ts"
import { refusal, rejection, request, scene } from "./Scene.ts"

it("an error has the fields of the error body and of the headers", async () => {
  const body = {
    error: { code: "insufficient_credits", message: "Too expensive.", plan: "credits", details: { required: 8 } }
  }
  const { kinora } = scene([Response.json(body, { status: 402, headers: { "x-request-id": "req_1" } })])
  const error = await rejection(kinora.generations.create(request))
  assert.isTrue(error instanceof KinoraError)
  assert.instanceOf(error, ResponseError)
  assert.strictEqual(error.message, "402 insufficient_credits: Too expensive.")
  assert.deepInclude(error, {
    name: "ResponseError",
    _tag: "ResponseError",
    code: "insufficient_credits",
    status: 402,
    plan: "credits",
    details: { required: 8 },
    requestId: "req_1",
    retryAfterMillis: null,
    isRetryable: false,
    generationId: null,
    attempts: 1
  })
})

it("a response of another server is an error with the code unknown and a hint", async () => {
  const html = (status: number) => new Response("<html>", { status, headers: { location: "/" } })
  const answers = [[html(200), "check baseUrl"], [html(302), "check baseUrl"], [html(403), "from a proxy"], [
    Response.json({ error: "no" }, { status: 400 }),
    "from a proxy"
  ]] as const
  for (const [answer, hint] of answers) {
    const { kinora } = scene([answer])
    const error = await rejection(kinora.account.get())
    assert.instanceOf(error, ResponseError)
    assert.strictEqual(error.code, "unknown")
    assert.include(error.message, hint)
  }
})

it("a redirect of a request is not followed", async () => {
  const redirects: Array<RequestInit["redirect"]> = []
  const kinora = new Kinora({
    baseUrl: "https://api.test",
    apiKey: "kin_secret",
    fetch: async (_, { redirect }) => {
      redirects.push(redirect)
      return Response.json({ data: [] })
    }
  })
  await kinora.models.list()
  assert.deepStrictEqual(redirects, ["manual"])
})

it("a code that the client does not have is returned", async () => {
  const { kinora } = scene([refusal(418, "is_a_teapot")])
  assert.propertyVal(await rejection(kinora.account.get()), "code", "is_a_teapot")
})

it("an error about a job has the id of the job", async () => {
  const { kinora } = scene([new TypeError("fetch failed"), refusal(404, "not_found")], { attemptsMax: 1 })
  const [lost, unknown] = [
    await rejection(kinora.generations.get("gen_1")),
    await rejection(kinora.generations.get("gen_2"))
  ]
  assert.instanceOf(lost, ConnectionError)
  assert.strictEqual(lost.generationId, "gen_1")
  assert.propertyVal(unknown, "generationId", "gen_2")
})

it("a printed client or error contains no key and no signature", async () => {
  const fetch = () => Promise.reject(new TypeError("fetch failed"))
  const kinora = new Kinora({ baseUrl: "https://api.test", apiKey: "kin_secret", fetch, attemptsMax: 1 })
  const url = "https://api.test/v1/generations/gen_1/content?exp=1&sig=signature"
  const errors = [
    await rejection(kinora.models.list()),
    await rejection(kinora.download(url)),
    await rejection(kinora.download("no address, sig=signature"))
  ]
  for (const value of [kinora, ...errors]) {
    const printed = [inspect(value, { depth: 9, showHidden: true }), JSON.stringify(value), String(value)].join()
    assert.notInclude(printed, "kin_secret")
    assert.notInclude(printed, "signature")
  }
})

it("a key that cannot be sent in a header is rejected and not quoted", () => {
  for (const apiKey of ["", "kin_secret\n", "kin_sécret", undefined]) {
    // The value of an unset variable in JavaScript.
    const options = { baseUrl: "https://api.test", apiKey: apiKey as string }
    const error = thrownBy(() => new Kinora(options))
    assert.instanceOf(error, TypeError)
    assert.notMatch(error.message, /kin_/)
  }
})

it("a header that cannot be sent is rejected without a request", async () => {
  const { asked, kinora } = scene([])
  for (const idempotencyKey of ["two\nlines", "sn\u{2603}w"]) {
    assert.instanceOf(await rejection(kinora.generations.create(request, { idempotencyKey })), TypeError)
  }
  assert.strictEqual(asked.length, 0)
})

it("other invalid options are rejected when the client is created", () => {
  const apiKey = "kin_secret"
  for (const baseUrl of ["", "api.test", "ftp://api.test"]) {
    assert.throws(() => new Kinora({ baseUrl, apiKey }), TypeError, "baseUrl")
  }
  for (const name of ["attemptsMax", "attemptTimeoutMillis", "timeoutMillis", "waitTimeoutMillis"]) {
    assert.throws(() => new Kinora({ baseUrl: "https://api.test", apiKey, [name]: 0 }), TypeError, name)
  }
})

it("the base URL can have a path, a slash and /v1", async () => {
  for (const tail of ["", "/", "/v1", "/v1/"]) {
    const { asked, kinora } = scene([Response.json({ data: null })], { baseUrl: `https://api.test/kinora${tail}` })
    assert.deepStrictEqual(await kinora.models.list(), [])
    assert.strictEqual(asked[0]?.url, "https://api.test/kinora/v1/models")
    assert.strictEqual(asked[0]?.headers.get("authorization"), "Bearer kin_secret")
  }
})

it("apiKey null sends no key", async () => {
  const { asked, kinora } = scene([Response.json({ data: [] })], { apiKey: null })
  await kinora.models.list()
  assert.isFalse(asked[0]?.headers.has("authorization"))
})

const thrownBy = (f: () => unknown): unknown => {
  try {
    return f()
  } catch (error) {
    return error
  }
}
