import { beforeAll, describe, expect, it } from "@effect/vitest"
import { OutputFormat } from "@kinora/catalog/Model"
import { document } from "@kinora/http-api/OpenApiDocument"
import * as OpenApiCheck from "../src/OpenApiCheck.ts"
import * as RawHttp from "../src/RawHttp.ts"
import { everywhere } from "./openApi/everywhere.ts"
import { files } from "./openApi/files.ts"
import { images } from "./openApi/images.ts"
import { jobs } from "./openApi/jobs.ts"
import { operators, reports } from "./openApi/reports.ts"
import { Findings } from "./openApi/Walk.ts"
import { webhooks } from "./openApi/webhooks.ts"

describe("the OpenAPI documents", () => {
  const findings = new Findings()
  beforeAll(async () => {
    for (const steps of [everywhere, jobs, files, images, reports, operators, webhooks]) await steps(findings)
  }, 600_000)

  it("describe every response: path, method, status, headers, media type and body", () => {
    expect(findings.problems).toEqual([])
  })

  it("describe only responses that occur", () => {
    const missing = OpenApiCheck.answers().filter((answer) => !findings.seen.has(answer) && !isOfTrouble(answer))
    // They need two concurrent requests on two servers, which the conformance cases on Postgres have.
    expect(missing).toEqual(["POST /v1/generations 409", "POST /v1/images/generations 409"])
  })

  it("name every media type that a model can produce", () => {
    const described = document.paths["/v1/generations/{id}/content"]?.get?.responses[200]?.content
    expect(Object.keys(described ?? {})).toEqual(OutputFormat.literals)
  })
})

/** Faults of the service, its database or its storage, which these tests do not cause. */
const isOfTrouble = (answer: string) => answer.endsWith(" 500") || (answer.endsWith(" 503") && !refusing.has(answer))

/** These operations respond with 503 for other reasons as well: a paused model, or too much work. */
const refusing = new Set(["POST /v1/generations 503", "POST /v1/images/generations 503", "POST /v1/uploads 503"])

/** A response that matches the documents. */
const truth = {
  method: "GET",
  url: "/v1/generations?limit=1",
  status: 200,
  headers: {
    "content-type": "application/json",
    "x-request-id": "a",
    "x-ratelimit-limit": "300",
    "x-ratelimit-remaining": "299",
    "x-ratelimit-reset": "1893456060"
  },
  body: JSON.stringify({ data: [], next_cursor: null })
}

const job = {
  id: "gen_1",
  model: "a",
  kind: "image",
  mode: "text_to_image",
  plan: "credits",
  status: "queued",
  prompt: null,
  params: {},
  cost_credits: 1,
  quota_kind: null,
  watermark: false,
  refunded: false,
  error_code: null,
  error: null,
  output: null,
  preview_url: null,
  thumb_url: null,
  poster_url: null,
  result_expires_at: null,
  queued_at: "2030-01-01T00:00:00.000Z",
  started_at: null,
  finished_at: null,
  created_at: "2030-01-01T00:00:00.000Z"
}

const problemsOf = (change: Partial<typeof truth>) => {
  const { headers, ...rest } = { ...truth, ...change }
  return OpenApiCheck.problemsOf({ ...rest, headers: new Headers(headers) })
}

const withJob = (change: object) => ({ body: JSON.stringify({ data: [{ ...job, ...change }], next_cursor: null }) })

const refusal = (code: string) => JSON.stringify({ error: { code, message: "No.", plan: null, details: {} } })

const without = (name: keyof typeof truth.headers) => {
  const { [name]: _, ...headers } = truth.headers
  return headers as typeof truth.headers
}

const withHeader = (name: string, value: string) => ({ headers: { ...truth.headers, [name]: value } })

describe("a response matches the documents", () => {
  it.each([
    ["when all of it is", {}],
    ["with what the transport adds", withHeader("date", "Tue, 01 Jan 2030 00:00:00 GMT")],
    ["with parameters of its media type", withHeader("content-type", "application/json; charset=utf-8")],
    ["with a job", withJob({})],
    ["without a body for HEAD", { method: "HEAD", body: "" }],
    ["when nobody knows its path", { url: "/v1/nothing", status: 404, body: refusal("not_found") }],
    ["when its method is another one", {
      method: "PUT",
      status: 405,
      body: refusal("method_not_allowed"),
      ...withHeader("allow", "POST, GET, HEAD")
    }]
  ])("%s", (_, change) => {
    expect(problemsOf(change)).toEqual([])
  })
})

describe("a response differs from the documents", () => {
  it.each([
    ["with another status", { status: 202 }, "status 202 is not documented"],
    ["without a header", { headers: without("x-request-id") }, "header X-Request-Id is missing"],
    ["with a header more", withHeader("x-powered-by", "us"), "header x-powered-by is not documented"],
    [
      "with a word for a number",
      withHeader("x-ratelimit-reset", "soon"),
      "header X-RateLimit-Reset is not an integer: soon"
    ],
    ["in another media type", withHeader("content-type", "text/html"), "media type text/html is not documented"],
    ["when it is not JSON", { body: "{" }, "body is not JSON"],
    ["without a property", { body: JSON.stringify({ data: [] }) }, "body must have required property 'next_cursor'"],
    ["with a property more", withJob({ secret: 1 }), "body/data/0 must NOT have additional properties"],
    ["with null for a value", withJob({ status: null }), "body/data/0/status must be string"],
    ["with another word", withJob({ status: "done" }), "body/data/0/status must be equal to one of the allowed values"],
    ["with a fraction", withJob({ cost_credits: 0.5 }), "body/data/0/cost_credits must be integer"],
    [
      "beyond exact integers",
      withJob({ cost_credits: 2 ** 53 }),
      "body/data/0/cost_credits must match format \"int64\""
    ],
    [
      "with seconds for milliseconds",
      withJob({ created_at: "2030-01-01T00:00:00Z" }),
      "must match format \"date-time\""
    ],
    ["on an impossible day", withJob({ created_at: "2030-13-01T00:00:00.000Z" }), "must match format \"date-time\""],
    ["with a body for HEAD", { method: "HEAD" }, "a body is not documented"],
    [
      "with another refusal's code",
      { status: 400, body: refusal("not_found") },
      "body/error/code must be equal to one"
    ],
    ["at a path that nobody knows", { url: "/v1/nothing" }, "status 200 is not documented"],
    ["without the methods that there are", { method: "PUT", status: 405 }, "header Allow is missing"],
    ["with other methods than there are", {
      method: "PUT",
      status: 405,
      ...withHeader("allow", "GET, HEAD, PUT")
    }, "header Allow value must match pattern"],
    ["with another event", {
      url: "/v1/generations/gen_1/events",
      body: `id: queued\nevent: job\ndata: ${JSON.stringify(job)}\n\n`,
      ...withHeader("content-type", "text/event-stream")
    }, "is not documented"],
    ["with something else in an event", {
      url: "/v1/generations/gen_1/events",
      body: "id: queued\nevent: generation\ndata: {}\n\n",
      ...withHeader("content-type", "text/event-stream")
    }, "body must have required property 'id'"]
  ])("%s", (_, change, problem) => {
    expect(problemsOf(change).join("; ")).toContain(problem)
  })

  it("a response that differs is rejected", async () => {
    const sent = (status: number) =>
      RawHttp.make({
        check: OpenApiCheck.check,
        fetch: () => Promise.resolve(new Response(truth.body, { status, headers: truth.headers }))
      }).send(truth.url)
    await expect(sent(200)).resolves.toHaveProperty("status", 200)
    await expect(sent(202)).rejects.toThrow("GET /v1/generations 202 is not as documented")
  })
})
